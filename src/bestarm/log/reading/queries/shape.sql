-- What the log is like, for the rules in macros.sql.
CREATE OR REPLACE MACRO has_source() AS $has_source;
CREATE OR REPLACE MACRO has_time() AS $has_time;
CREATE OR REPLACE MACRO is_counted() AS $is_counted;
CREATE OR REPLACE MACRO has_commas() AS $has_commas;
CREATE OR REPLACE MACRO has_words() AS $has_words;
CREATE OR REPLACE MACRO lowest() AS CAST('$lowest' AS DOUBLE);
CREATE OR REPLACE MACRO highest() AS CAST('$highest' AS DOUBLE);
