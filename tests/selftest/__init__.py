"""`palazzo selftest`: what it finds, and that it finds something when something is wrong."""
