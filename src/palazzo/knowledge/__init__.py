"""Facts: subject, predicate and object; when each held, when it was believed, and who stated it.

`facts_as_of` answers questions about the beliefs of one moment; `assertions` adds, ends and supersedes; `entity_links`
says which names and entities are the same; `conflict_detection` checks predicates that have one object at a time;
`fact_undo` implements undo for all of these. They work in the caller's transaction and know no face.
"""

from typing import Literal

MatchKind = Literal["name", "alias", "spelling", "near"]
"""How an entity was found: by its own name, another name, another spelling, or a similar name."""
