"""Properties of text are tested without a deadline: no unit test asserts a time."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("text", deadline=None)
settings.load_profile("text")
