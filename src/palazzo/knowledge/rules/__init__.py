"""Rules that find claims in statements. Each kind of sentence has one module with a table and a function."""
