"""artifact put and get, event patch: texts that another agent must get exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive import exchange_log
from palazzo.archive.exchange_log import NewArtifact
from palazzo.errors import NotFound, UsageError
from palazzo.features.exchange.contract import (
    ArtifactGetRequest,
    ArtifactGetResult,
    ArtifactKind,
    ArtifactPutRequest,
    ArtifactPutResult,
    EventAppendRequest,
    EventPatchRequest,
    EventPatchResult,
)
from palazzo.features.exchange.event_append import new_event
from palazzo.features.exchange.exchange_fields import append, object_id, one_of, parse_metadata, route, stream_of
from palazzo.features.exchange.exchange_results import artifact_view, event_view, patch_warnings
from palazzo.store import exchange_rows
from palazzo.store.exchange_rows import ARTIFACT

if TYPE_CHECKING:
    from palazzo.operations.context import Context

LARGEST = 4 * 1024 * 1024
"""The most bytes of an artifact: MemPalace's limit."""


def artifact_put(context: Context, request: ArtifactPutRequest) -> ArtifactPutResult:
    """Store an artifact."""
    check_content(request.content)
    one_of("kind", request.kind, ArtifactKind)
    artifact = NewArtifact(
        request.kind,
        request.content,
        route("--by", request.by),
        context.project_wing,
        parse_metadata(request.metadata),
    )
    (row,), is_redacted = append(context, artifact)
    return ArtifactPutResult(artifact_view(row), patch_warnings(request.kind, row.text), is_redacted)


def artifact_get(context: Context, request: ArtifactGetRequest) -> ArtifactGetResult:
    """Return an artifact with its content."""
    artifact_id = object_id("artifact", request.id)
    with context.reading().database.snapshot() as connection:
        row = exchange_rows.find(connection, ARTIFACT, artifact_id)
    if row is None:
        raise NotFound(f"There is no artifact '{artifact_id}'.")
    return ArtifactGetResult(artifact_view(row), row.text)


def event_patch(context: Context, request: EventPatchRequest) -> EventPatchResult:
    """Store a patch and append its event, in one transaction."""
    check_content(request.content)
    stream, author = stream_of(context, request.stream), route("--by", request.by)
    wing = exchange_log.place_of(stream, request.room).wing
    patch = NewArtifact("patch", request.content, author, wing, parse_metadata(request.metadata))
    event = new_event(
        context,
        EventAppendRequest(
            "patch.ready",
            request.body,
            stream,
            request.room,
            request.topic,
            request.by,
            request.to,
            request.correlation,
            request.branch,
            request.commit,
            "ready",
            request.metadata,
        ),
    )
    (artifact_row, event_row), is_redacted = append(context, patch, event)
    warnings = patch_warnings("patch", artifact_row.text)
    return EventPatchResult(artifact_view(artifact_row), warnings, event_view(event_row), is_redacted)


def check_content(content: str) -> None:
    """Raise UsageError for a content that cannot be stored exactly."""
    size = len(content.encode("utf-8", "surrogatepass"))
    if not content or "\0" in content:
        raise UsageError("The content is empty." if not content else "The content contains NUL; only text is stored.")
    if size > LARGEST:
        raise UsageError(f"The content has {size:,} bytes; the limit is {LARGEST:,}. Leave it in a file, and name it.")
