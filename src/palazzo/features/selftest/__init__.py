"""The feature `selftest`: shows on this machine that nothing acknowledged is lost, and how a terminal shows it."""
