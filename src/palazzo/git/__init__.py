"""Where things belong: which project a directory is of, and which wing and rooms its words are filed in."""
