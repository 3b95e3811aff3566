"""What may be the name of an entity or a predicate, and what of it may be kept.

Raises UsageError for what may not.
"""

from __future__ import annotations

from palazzo.archive.guarding import Guard
from palazzo.errors import UsageError
from palazzo.guard.redact import PRIVATE, redact
from palazzo.text.names import tidy

LONGEST_NAME, LONGEST_PREDICATE = 1_000, 100
"""Characters. A subject or an object may be a sentence, a predicate is a few words; longer text is a note."""
_SHOWN = 40


def guarded(guard: Guard, subject: str, predicate: str, thing: str) -> tuple[str, str, str]:
    """Return a fact's words without secrets, private spans and what was erased.

    They are looked at together as well: `hunter2hunter2` is a secret because it is what a password is.
    """
    kept = [guard.words(words) for words in (subject, predicate, thing)]
    if guard.redacts:
        together = f"{kept[0]} {kept[1]}: {kept[2]}"
        known = redact(together, guard.key).secrets(together)
        kept = [redact(words, guard.key, known=known).text for words in kept]
    return entity_name("subject", kept[0]), predicate_name(kept[1]), entity_name("object", kept[2])


def entity_name(what: str, text: str) -> str:
    """Return a subject or an object as it is kept; `what` says which it is."""
    return _checked(what, text, LONGEST_NAME)


def predicate_name(text: str) -> str:
    """Return a predicate as it is kept."""
    return _checked("predicate", text, LONGEST_PREDICATE)


def _checked(what: str, text: str, longest: int) -> str:
    name = tidy(text)
    if not name:
        raise UsageError(f"The {what} is empty: a fact is a subject, a predicate and an object.")
    if len(name) > longest:
        raise UsageError(
            f"The {what} '{name[:_SHOWN]}…' has {len(name):,} characters, and may have {longest:,}; "
            "what is longer can be kept by 'palazzo remember'."
        )
    if not name.isprintable():
        raise UsageError(f"The {what} holds characters that cannot be printed; write it in plain text.")
    if name == PRIVATE:
        raise UsageError(f"The {what} is private, so there is nothing that could be kept of this fact.")
    return name
