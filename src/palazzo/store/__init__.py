"""The store: one SQLite file, its schema, and one module of SQL per family of tables.

`database.py` is the interface to SQLite; every other module here takes a `Connection` and speaks SQL. No layer above
does. Modules: `changes` (the log that derivations follow), `places`, `sources`, `items`, `acts`, `drawers`, `keywords`,
`vectors`.
"""
