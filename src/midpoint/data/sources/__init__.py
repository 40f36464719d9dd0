"""Where ratings come from: known data sets, anyone's own tables, and how to get them.

- `loading`: from a name or a path to `Ratings`, by way of all the others.
- Known data sets: `catalogue` lists them; `movielens`, `flixster`, `politics_tv` and `surveys`
  read them; `obtain` gets them, with `download` and `wheel`.
- One's own tables: `tables` reads long ones and tables of people, `wide` wide ones; `columns`
  guesses by names.
- What all of them share: `archive` (zips and folders), `delimited` (text of a known format),
  `reading` (tables of any format), `cells`, `people` (features), `building` (to `Ratings`).
"""
