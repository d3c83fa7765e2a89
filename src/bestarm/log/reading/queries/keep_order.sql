-- Whether rows come out in the order in which they go in; without, queries are faster.
SET preserve_insertion_order = $is_kept;
