"""Protection of a palace: trust, secrets, fences, authenticity.

Higher layers use it; it imports none of them.
"""
