"""sync, sync_push, sync_pull, sync_status: what was pushed, what was pulled, what conflicts, and when last."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.mcp.telling import LIST, NUMBER, TEXT, shape
from palazzo.mcp.tools import Answer, Argument, Given, Hints, Tool
from palazzo.mcp.toolsets.syncing import pulled_line, pushed_line
from palazzo.operations.sync_now import SyncNowResult
from palazzo.operations.sync_pull import PulledView, SyncPullResult
from palazzo.operations.sync_push import PushedView, SyncPushResult
from palazzo.operations.sync_status import SyncStatusResult
from palazzo.text.times import to_iso

_OUTSIDE = Hints(idempotent=True, open_world=True)
_FROM = (Argument("from", "The remote; all if left out.", "remote"),)
_FIELDS = shape(pushed=NUMBER, pulled=NUMBER, conflicts=LIST)


def _told(pulled: Sequence[PulledView], pushed: Sequence[PushedView]) -> Answer:
    told = {
        "pushed": sum(sum(one.records.values()) for one in pushed),
        "pulled": sum(sum(one.added.values()) for one in pulled),
        "conflicts": [conflict for one in pulled for conflict in one.conflicts],
    }
    return Answer(told, "\n".join([*map(pulled_line, pulled), *map(pushed_line, pushed)]))


def _both(result: SyncNowResult, given: Given) -> Answer:
    return _told(result.pulled, result.pushed)


def _push(result: SyncPushResult, given: Given) -> Answer:
    return _told((), result.remotes)


def _pull(result: SyncPullResult, given: Given) -> Answer:
    return _told(result.remotes, ())


def _status(result: SyncStatusResult, given: Given) -> Answer:
    times = [at for one in result.remotes for at in (one.pushed_at, one.pulled_at) if at is not None]
    told = {
        "remotes": [one.name for one in result.remotes],
        "to_push": sum(one.to_push for one in result.remotes),
        "conflicts": result.conflicts,
        "last": to_iso(max(times)) if times else "",
    }
    names = ", ".join(one.name for one in result.remotes) or "no remote"
    return Answer(told, f"{names}; {told['to_push']} to push; last {told['last'] or 'never'}")


TOOLS = (
    Tool(
        name="sync",
        operation="sync_now",
        description="Take in what the person's other machines have brought, then bring what is new here.",
        arguments=_FROM,
        hints=_OUTSIDE,
        answer=_both,
        output=_FIELDS,
    ),
    Tool(
        name="sync_push",
        operation="sync_push",
        description="Bring what is new here to where the person's machines meet.",
        arguments=_FROM,
        hints=_OUTSIDE,
        answer=_push,
        output=_FIELDS,
    ),
    Tool(
        name="sync_pull",
        operation="sync_pull",
        description="Take in what the person's other machines have brought.",
        arguments=_FROM,
        hints=_OUTSIDE,
        answer=_pull,
        output=_FIELDS,
    ),
    Tool(
        name="sync_status",
        operation="sync_status",
        description="Where the person's machines meet, what waits to go there, and when that was last done.",
        arguments=_FROM,
        answer=_status,
        output=shape(remotes=LIST, to_push=NUMBER, conflicts=NUMBER, last=TEXT),
    ),
)
