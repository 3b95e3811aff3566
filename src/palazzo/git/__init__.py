"""Project scope: which project a directory belongs to, and in which wing and rooms its words are filed."""
