"""Where ratings come from: a known name, a path, a download.

- `loader`: from a name or a path to `Ratings`, by way of `datasets` and `tables`.
- `catalogue`: the data sets known by name.
- `acquisition`: gets one, by `download` from its publisher or by `wheel` from a Python package.
"""
