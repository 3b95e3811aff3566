"""Events and artifacts as results of the operations of this feature."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from palazzo.archive.exchange_log import digest
from palazzo.features.exchange.contract import ArtifactView, EventView

if TYPE_CHECKING:
    from palazzo.store.exchange_rows import ExchangeRow


def event_view(row: ExchangeRow) -> EventView:
    """Return an event as a result shows it."""
    fields = row.fields
    return EventView(
        id=row.uid,
        seq=row.row,
        device=row.device,
        device_seq=row.device_seq,
        type=fields["type"],
        stream=fields["stream"],
        room=fields["room"],
        topic=fields.get("topic"),
        by=row.author,
        to=fields.get("to"),
        correlation=fields.get("correlation"),
        branch=row.branch or None,
        commit=row.commit or None,
        status=fields.get("status"),
        artifacts=tuple(fields["artifacts"]),
        body=row.text,
        at=row.at,
        metadata=json.dumps(fields.get("metadata", {}), ensure_ascii=False, sort_keys=True),
        trust=row.trust,
    )


def artifact_view(row: ExchangeRow) -> ArtifactView:
    """Return an artifact as a result shows it, without its content."""
    return ArtifactView(
        id=row.uid,
        kind=row.fields["kind"],
        sha256=digest(row.text),
        size=len(row.text.encode("utf-8", "surrogatepass")),
        by=row.author,
        at=row.at,
        device=row.device,
        metadata=json.dumps(row.fields.get("metadata", {}), ensure_ascii=False, sort_keys=True),
        trust=row.trust,
    )


def patch_warnings(kind: str, content: str) -> tuple[str, ...]:
    """Return why git would refuse a patch; nothing for other artifacts."""
    if kind != "patch":
        return ()
    warnings = []
    if not content.endswith("\n"):
        warnings.append(
            "The patch does not end with a newline, so 'git apply' refuses its last hunk; store it byte for byte."
        )
    if "\r" in content:
        warnings.append("The patch has carriage returns, which 'git apply' often refuses; make it with LF line ends.")
    return tuple(warnings)
