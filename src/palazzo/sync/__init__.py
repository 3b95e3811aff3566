"""Exchange between palaces: the palace's primary data leaves it and enters another one as records, merged by rule."""
