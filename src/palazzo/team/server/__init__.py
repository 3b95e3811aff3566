"""The team server: stateless; everything that it knows is in PostgreSQL."""
