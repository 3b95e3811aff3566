"""The tools sync, sync_push, sync_pull and sync_status: what was pushed and pulled, conflicts, and the last time."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.features.sync.contract import (
    PulledView,
    PushedView,
    SyncNowResult,
    SyncPullResult,
    SyncPushResult,
    SyncStatusResult,
)
from palazzo.features.sync.tools import pulled_line, pushed_line
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments, Hints, Tool
from palazzo.operations.agent_tools.tool_answers import LIST, NUMBER, TEXT, shape
from palazzo.text.times import to_iso

_OUTSIDE = Hints(idempotent=True, open_world=True)
_FROM = (Argument("from", "The remote. Default: all.", "remote"),)
_FIELDS = shape(pushed=NUMBER, pulled=NUMBER, conflicts=LIST)


def _answer_sync(pulls: Sequence[PulledView], pushes: Sequence[PushedView]) -> Answer:
    fields = {
        "pushed": sum(sum(view.records.values()) for view in pushes),
        "pulled": sum(sum(view.added.values()) for view in pulls),
        "conflicts": [conflict for view in pulls for conflict in view.conflicts],
    }
    return Answer(fields, "\n".join([*map(pulled_line, pulls), *map(pushed_line, pushes)]))


def _both(result: SyncNowResult, call: CallArguments) -> Answer:
    return _answer_sync(result.pulled, result.pushed)


def _push(result: SyncPushResult, call: CallArguments) -> Answer:
    return _answer_sync((), result.remotes)


def _pull(result: SyncPullResult, call: CallArguments) -> Answer:
    return _answer_sync(result.remotes, ())


def _status(result: SyncStatusResult, call: CallArguments) -> Answer:
    times = [at for remote in result.remotes for at in (remote.pushed_at, remote.pulled_at) if at is not None]
    fields = {
        "remotes": [remote.name for remote in result.remotes],
        "to_push": sum(remote.to_push for remote in result.remotes),
        "conflicts": result.conflicts,
        "last": to_iso(max(times)) if times else "",
    }
    names = ", ".join(remote.name for remote in result.remotes) or "no remote"
    return Answer(fields, f"{names}; {fields['to_push']} to push; last {fields['last'] or 'never'}")


TOOLS = (
    Tool(
        name="sync",
        operation="sync_now",
        description="Pull the new records of the person's other machines, then push the new records from here.",
        arguments=_FROM,
        hints=_OUTSIDE,
        answer=_both,
        output=_FIELDS,
    ),
    Tool(
        name="sync_push",
        operation="sync_push",
        description="Push new records to the remotes that the person's machines share.",
        arguments=_FROM,
        hints=_OUTSIDE,
        answer=_push,
        output=_FIELDS,
    ),
    Tool(
        name="sync_pull",
        operation="sync_pull",
        description="Pull the new records of the person's other machines.",
        arguments=_FROM,
        hints=_OUTSIDE,
        answer=_pull,
        output=_FIELDS,
    ),
    Tool(
        name="sync_status",
        operation="sync_status",
        description="Show the remotes of the person's machines, what is not pushed yet, and the last push and pull.",
        arguments=_FROM,
        answer=_status,
        output=shape(remotes=LIST, to_push=NUMBER, conflicts=NUMBER, last=TEXT),
    ),
)
