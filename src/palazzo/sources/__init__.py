"""Mining: discover what to read, read it, hand it to the archive's door, and remember how far each file was read.

`mine` runs it all: `discover` and `walk` find files, `placing` finds their wing and room, `transcripts` and `documents`
read them, `sessions` files a conversation in batches. `collected` reads files that hold many conversations; `mine` does
not call it yet.
"""
