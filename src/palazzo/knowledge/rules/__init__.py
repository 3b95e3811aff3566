"""Rules that find claims in statements, one module for each kind of sentence. Each is a table and a function."""
