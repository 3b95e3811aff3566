"""Protection of a palace: trust, secrets, fences, authenticity.

The rooms above use it; it imports none of them.
"""
