-- The columns of what can be selected from, and their types.
DESCRIBE SELECT * FROM $relation;
