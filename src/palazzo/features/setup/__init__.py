"""The feature `setup`: wire every agent on this machine, index their history, and show today's state."""
