"""The archive: ingest of all texts, and the data that makes them provable.

`ingest` is the only caller of text inserts; `identity` gives ids; `device_chain` links the items that a device
archived, so that a gap or a change is detected. Every writer (mining, a note, a diary, an import) passes a `NewItem` to
`ingest`. Reading is here too: `archive_reader` returns exact spans.
"""
