"""The files of granite-embedding-30m-english for Palazzo's setting `embedder.kind = granite`; they hold no code."""
