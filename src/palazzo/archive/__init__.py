"""The archive: the door that all words come in by, and what makes them provable.

`door` is the only caller of text inserts; `identity` gives ids; `chain` links what a device archived so that
a gap or a change shows. Whoever writes (mining, a note, later a diary or an import) hands a `Filing` to the
door. Reading is here too: `reading` slices exact spans.
"""
