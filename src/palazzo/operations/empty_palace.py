"""Reading before a palace exists: the answer is that of an empty palace.

A protocol client that gets an error concludes that the memory is broken, and stops asking; but nothing is broken. A
palace that is damaged, or of another version, is different: that remains an error.
"""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palazzo.errors import PalaceMissing
from palazzo.operations import registry
from palazzo.operations.context import Context
from palazzo.palace import Palace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from palazzo.model import Trust
    from palazzo.store.palace_opening import Mode

_ASKS_WHETHER_SOUND = ("verify",)
"""Operations that check the palace. If there is no palace, they fail instead of giving an empty answer."""


def read_nothing(
    error: PalaceMissing,
    operation: str,
    request: Any,
    cwd: Path,
    variables: Mapping[str, str],
    palace: Path | None,
    trust: Trust,
) -> Any:
    """Run a reading operation on a temporary empty palace.

    Raises `error` if there is a file after all, or if the operation would write: only the first stored content creates
    the real palace.
    """
    with tempfile.TemporaryDirectory(prefix="palazzo-none-") as directory:
        path = Path(directory) / "palace.db"
        Palace.open(path).close()
        with Palace.open(path, "read") as empty:

            def open_palace(context: Context, mode: Mode) -> Palace:
                if mode == "write":
                    raise error
                return empty

            around = {**variables, "PALAZZO_SERVICE": "off"}
            with Context(palace, cwd, around, trust=trust, palace_opener=open_palace) as context:
                if context.has_palace or operation in _ASKS_WHETHER_SOUND:
                    raise error
                result = registry.operation(operation).run(context, request)
    # The file that was counted is not theirs.
    is_counted = dataclasses.is_dataclass(result) and hasattr(result, "size_bytes")
    return dataclasses.replace(result, size_bytes=0) if is_counted else result
