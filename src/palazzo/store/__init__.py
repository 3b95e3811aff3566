"""The store: one SQLite file, its schema, and one module of SQL per family of tables.

`database.py` is the interface to SQLite; every other module here takes a `Connection` and speaks SQL. No layer above
does. Examples: `change_log` (the log that consumers follow), `place_rows`, `source_rows`, `items`, `act_rows`,
`drawers`, `keyword_table`, `vector_rows`.
"""
