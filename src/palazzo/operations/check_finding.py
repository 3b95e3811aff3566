"""One finding of `doctor`: the result of one check."""

from __future__ import annotations

from palazzo.frozen_class import frozen


@frozen
class Diagnosis:
    """The result of one check; `mend` says how to fix it if it failed, and --fix does so if `fixable`.

    If the check passed, `mend` says how to change what a person may want to change.
    """

    name: str
    ok: bool
    detail: str
    mend: str = ""
    fixable: bool = False
