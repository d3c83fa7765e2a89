-- Makes `picked`: the hashes of some sources.
CREATE OR REPLACE TEMP TABLE picked AS SELECT unnest($$1::UBIGINT[]) AS hashed;
