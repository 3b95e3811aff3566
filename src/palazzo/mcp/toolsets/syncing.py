"""sync_push, sync_pull and sync_status: one memory on several machines."""

from __future__ import annotations

from typing import Any

from palazzo.mcp.telling import FLAG, LIST, TEXT, shape
from palazzo.mcp.tools import Answer, Argument, Given, Hints, Tool
from palazzo.operations.sync_pull import PulledView, SyncPullResult
from palazzo.operations.sync_push import PushedView, SyncPushResult
from palazzo.operations.sync_status import SyncStatusResult
from palazzo.text.counts import count_noun
from palazzo.text.times import to_iso

_OUTSIDE = Hints(idempotent=True, open_world=True)
_REMOTE = Argument("remote", "Its name; all if left out.")


def pushed(one: PushedView) -> dict[str, Any]:
    """Return what went to a remote, as JSON has it."""
    return {"remote": one.remote, "records": one.records, "withheld": one.withheld, "anew": one.anew}


def pulled(one: PulledView) -> dict[str, Any]:
    """Return what came from a remote, as JSON has it."""
    return {
        "remote": one.remote,
        "added": one.added,
        "changed": one.changed,
        "conflicts": list(one.conflicts),
        "notes": list(one.notes),
    }


def pushed_line(one: PushedView, dry_run: bool = False) -> str:
    """Return what went to a remote, or would, as a line."""
    stays = f"; {count_noun(sum(one.withheld.values()), 'item')} withheld" if one.withheld else ""
    done = "would be pushed" if dry_run else "pushed"
    return f"{one.remote}: {count_noun(sum(one.records.values()), 'record')} {done}{stays}"


def pulled_line(one: PulledView, dry_run: bool = False) -> str:
    """Return what came from a remote, or would, as lines."""
    found = f"; {count_noun(len(one.conflicts), 'new conflict')}, see kg_conflicts" if one.conflicts else ""
    done = "would be pulled" if dry_run else "pulled"
    return "\n".join([f"{one.remote}: {count_noun(sum(one.added.values()), 'record')} {done}{found}", *one.notes])


def _push(result: SyncPushResult, given: Given) -> Answer:
    told = {"dry_run": result.dry_run, "remotes": [pushed(one) for one in result.remotes]}
    return Answer(told, "\n".join(pushed_line(one, result.dry_run) for one in result.remotes))


def _pull(result: SyncPullResult, given: Given) -> Answer:
    told = {"dry_run": result.dry_run, "remotes": [pulled(one) for one in result.remotes]}
    return Answer(told, "\n".join(pulled_line(one, result.dry_run) for one in result.remotes))


def _status(result: SyncStatusResult, given: Given) -> Answer:
    remotes = [
        {
            "name": one.name,
            "pushed": None if one.pushed_at is None else to_iso(one.pushed_at),
            "pulled": None if one.pulled_at is None else to_iso(one.pulled_at),
            "waiting": one.to_push,
            "withheld": len(one.withheld),
            "failure": one.failure,
        }
        for one in result.remotes
    ]
    told = {
        "device": result.device,
        "remotes": remotes,
        "private_wings": [*result.private_wings, *(one.wing for one in result.merged_private)],
        "conflicts": result.conflicts,
    }
    lines = [
        f"{one['name']}: pushed {one['pushed'] or 'never'}, pulled {one['pulled'] or 'never'}, {one['waiting']} to push"
        for one in remotes
    ]
    return Answer(
        told, "\n".join(lines) or "This memory has no remote; a person gives it one: palazzo sync init ADDRESS."
    )


SYNC_PUSH = Tool(
    name="sync_push",
    operation="sync_push",
    description="Bring what is new here to the person's other machines' meeting place.",
    arguments=(_REMOTE, Argument("dry_run", "Only say what would go.")),
    hints=_OUTSIDE,
    answer=_push,
    output=shape(dry_run=FLAG, remotes=LIST),
)
SYNC_PULL = Tool(
    name="sync_pull",
    operation="sync_pull",
    description="Take in what the person's other machines have brought.",
    arguments=(_REMOTE, Argument("dry_run", "Only say what would come.")),
    hints=_OUTSIDE,
    answer=_pull,
    output=shape(dry_run=FLAG, remotes=LIST),
)
SYNC_STATUS = Tool(
    name="sync_status",
    operation="sync_status",
    description="Where the person's machines meet, what waits to go there, what does not go.",
    arguments=(_REMOTE,),
    answer=_status,
    output=shape(device=TEXT, remotes=LIST),
)
