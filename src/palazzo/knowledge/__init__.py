"""Facts: who or what, how, what; when it held, when it was believed, and who said so.

`beliefs` answers questions about one moment of belief; `stating` adds, ends and supersedes; `joining` says which names
and entities are one; `conflicting` watches over predicates that have one object at a time; `taking_back` is what undo
does with all of these. They work in the caller's transaction and know no face.
"""

from typing import Literal

MatchKind = Literal["name", "alias", "spelling", "near"]
"""How an entity was found: by its own name, another name, another spelling, or a name that is near."""
