-- Makes `arms`: the index of each arm. By parameters: a table of Arrow would load pandas, which takes half a second.
CREATE TEMP TABLE arms AS SELECT unnest($$1::VARCHAR[]) AS name, unnest(range($$2)) AS arm_index;
