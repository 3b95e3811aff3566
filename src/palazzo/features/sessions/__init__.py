"""Looking back: past sessions, what came of them, and going on with one."""
