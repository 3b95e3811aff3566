"""Tags by rule: the branch that words were written on, the type of the file they stand in, an error they report.

Pure functions. What somebody states is an act (`acting.py`).
"""

from __future__ import annotations

import re

ERROR = "error"
"""The tag of a tool's output that reports an error."""
QUOTED_TAG = "said:quoted"
"""The tag of text that a person quotes, pastes or fences: somebody else's words in the person's message."""
_BRANCH, _TYPE = "branch:", "type:"
_SUFFIX = re.compile(r"[^./\\]\.([A-Za-z0-9]{1,10})\Z")


def of_branch(branch: str) -> tuple[str, ...]:
    """Return the tag of what was written on a git branch; none outside a repository."""
    return (f"{_BRANCH}{branch}",) if branch else ()


def of_file(name: str) -> tuple[str, ...]:
    """Return the tag of a file's type, by the end of its name; none where that tells no type."""
    match = _SUFFIX.search(name)
    return (f"{_TYPE}{match[1].lower()}",) if match else ()


def by_rule(tag: str) -> bool:
    """Whether the tag is one that a rule gives, and so nobody can take off."""
    return tag in (ERROR, QUOTED_TAG) or tag.startswith((_BRANCH, _TYPE))
