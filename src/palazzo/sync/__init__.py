"""How a palace's truth leaves it and comes into another: as records, merged by rule."""
