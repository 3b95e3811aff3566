"""The feature `team`: its operations, their requests and results, and how a terminal shows them."""
