"""Tables of any format, read as ratings and people.

- `tables` reads one's own tables; `wide_table` those with one row a person.
- `columns` guesses what columns are by their names, `people` which of them are features.
- `reader` reads any format, `delimited_text` a known one, `archive` zips and directories alike.
- `frames` reads tables in memory, `atomic` RecBole's files.
- `cells` has names, numbers and times; `builder` makes `Ratings`.
"""
