"""The client of a team server: which wings are shared, what of them was sent, and requests over HTTP."""
