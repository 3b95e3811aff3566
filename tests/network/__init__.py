"""What Palazzo sends, looks up and writes elsewhere: nothing, seen from outside its processes."""
