"""Mining: discover sources, read them, pass them to the archive's ingest, and remember how far each file was read.

`mining_run` runs all steps. `discovery` and `walk` find files, `source_places` determines their wing and room,
`transcript_mining` and `document_mining` read them, `session_mining` files a conversation in batches.
`collection_reader` reads files that contain many conversations.
"""
