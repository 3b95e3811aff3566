"""Other memories' tools, so that what was written for them works unchanged: their names over our operations."""
