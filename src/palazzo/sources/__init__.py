"""Mining: discover sources, read them, pass them to the archive's ingest, and remember how far each file was read.

`mine` runs all steps. `discover` and `walk` find files, `placing` determines their wing and room, `transcripts` and
`documents` read them, `sessions` files a conversation in batches. `collected` reads files that contain many
conversations; `mine` does not call it yet.
"""
