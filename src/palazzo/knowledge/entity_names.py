"""Names of entities and predicates: which names are allowed, and the redacted form that is stored.

Raises UsageError for a name that is not allowed.
"""

from __future__ import annotations

from palazzo.archive.ingest_guard import Guard
from palazzo.errors import UsageError
from palazzo.security.redactor import PRIVATE, redact
from palazzo.text.names import tidy

LONGEST_NAME, LONGEST_PREDICATE = 1_000, 100
"""In characters. A subject or an object may be a sentence, a predicate is a few words; longer text is a note."""
_EXCERPT_LENGTH = 40


def redact_fact(guard: Guard, subject: str, predicate: str, thing: str) -> tuple[str, str, str]:
    """Return a fact's words without secrets, private spans and erased text.

    They are also checked together: `hunter2hunter2` is a secret because it is the value of a password.
    """
    texts = [guard.words(words) for words in (subject, predicate, thing)]
    if guard.redacts:
        joint_text = f"{texts[0]} {texts[1]}: {texts[2]}"
        secrets = redact(joint_text, guard.key).secrets(joint_text)
        texts = [redact(words, guard.key, secret_rules=secrets).text for words in texts]
    return entity_name("subject", texts[0]), predicate_name(texts[1]), entity_name("object", texts[2])


def entity_name(label: str, text: str) -> str:
    """Return a subject or an object in its stored form; `label` says which it is."""
    return _validate_name(label, text, LONGEST_NAME)


def predicate_name(text: str) -> str:
    """Return a predicate in its stored form."""
    return _validate_name("predicate", text, LONGEST_PREDICATE)


def _validate_name(label: str, text: str, longest: int) -> str:
    name = tidy(text)
    if not name:
        raise UsageError(f"The {label} is empty: a fact needs a subject, a predicate and an object.")
    if len(name) > longest:
        raise UsageError(
            f"The {label} '{name[:_EXCERPT_LENGTH]}…' has {len(name):,} characters; the limit is {longest:,}. Save "
            "longer text with 'palazzo remember'."
        )
    if not name.isprintable():
        raise UsageError(f"The {label} contains unprintable characters; write it in plain text.")
    if name == PRIVATE:
        raise UsageError(f"The {label} is private, so nothing of this fact can be saved.")
    return name
