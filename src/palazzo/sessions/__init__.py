"""Sessions read as a whole: their turns, their tools' calls and files, and their untrusted parts."""
