"""Exchange: events and artifacts that agents of one palace leave for each other."""
