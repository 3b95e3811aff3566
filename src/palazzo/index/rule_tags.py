"""Tags by rule: the branch on which text was written, the type of the file that holds it, an error that it reports.

Pure functions. A tag that a person or an agent states is an act (`act_overlay.py`).
"""

from __future__ import annotations

import re

ERROR = "error"
"""The tag of a tool's output that reports an error."""
QUOTED_TAG = "said:quoted"
"""The tag of text that a person quotes, pastes or fences: another author's words in the person's message."""
_BRANCH, _TYPE = "branch:", "type:"
_SUFFIX = re.compile(r"[^./\\]\.([A-Za-z0-9]{1,10})\Z")


def of_branch(branch: str) -> tuple[str, ...]:
    """Return the tag for text written on a git branch; none outside a repository."""
    return (f"{_BRANCH}{branch}",) if branch else ()


def of_file(name: str) -> tuple[str, ...]:
    """Return the tag of a file's type, from the suffix of its name; none if there is no type."""
    match = _SUFFIX.search(name)
    return (f"{_TYPE}{match[1].lower()}",) if match else ()


def by_rule(tag: str) -> bool:
    """Return whether a rule gives the tag, so that it cannot be removed."""
    return tag in (ERROR, QUOTED_TAG) or tag.startswith((_BRANCH, _TYPE))
