"""The tools sync_push, sync_pull and sync_status: one memory on several machines."""

from __future__ import annotations

from typing import Any

from palazzo.features.sync.contract import PulledView, PushedView, SyncPullResult, SyncPushResult, SyncStatusResult
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments, Hints, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, TEXT, shape
from palazzo.text.count_phrases import count_noun
from palazzo.text.times import to_iso

_OUTSIDE = Hints(idempotent=True, open_world=True)


_REMOTE = Argument("remote", "Remote name; all if omitted.")


def describe_push(push: PushedView) -> dict[str, Any]:
    """Return what was pushed to a remote, as JSON fields."""
    return {"remote": push.remote, "records": push.records, "withheld": push.withheld, "anew": push.anew}


def describe_pull(pull: PulledView) -> dict[str, Any]:
    """Return what was pulled from a remote, as JSON fields."""
    return {
        "remote": pull.remote,
        "added": pull.added,
        "changed": pull.changed,
        "conflicts": list(pull.conflicts),
        "notes": list(pull.notes),
    }


def pushed_line(push: PushedView, dry_run: bool = False) -> str:
    """Return what was or would be pushed to a remote, as a line."""
    stays = f"; {count_noun(sum(push.withheld.values()), 'item')} withheld" if push.withheld else ""
    verb = "would be pushed" if dry_run else "pushed"
    return f"{push.remote}: {count_noun(sum(push.records.values()), 'record')} {verb}{stays}"


def pulled_line(pull: PulledView, dry_run: bool = False) -> str:
    """Return what was or would be pulled from a remote, as lines."""
    conflict_note = f"; {count_noun(len(pull.conflicts), 'new conflict')}, see kg_conflicts" if pull.conflicts else ""
    verb = "would be pulled" if dry_run else "pulled"
    return "\n".join(
        [f"{pull.remote}: {count_noun(sum(pull.added.values()), 'record')} {verb}{conflict_note}", *pull.notes]
    )


def _push(result: SyncPushResult, call: CallArguments) -> Answer:
    fields = {"dry_run": result.dry_run, "remotes": [describe_push(push) for push in result.remotes]}
    return Answer(fields, "\n".join(pushed_line(push, result.dry_run) for push in result.remotes))


def _pull(result: SyncPullResult, call: CallArguments) -> Answer:
    fields = {"dry_run": result.dry_run, "remotes": [describe_pull(pull) for pull in result.remotes]}
    return Answer(fields, "\n".join(pulled_line(pull, result.dry_run) for pull in result.remotes))


def _status(result: SyncStatusResult, call: CallArguments) -> Answer:
    remotes = [
        {
            "name": remote.name,
            "pushed": None if remote.pushed_at is None else to_iso(remote.pushed_at),
            "pulled": None if remote.pulled_at is None else to_iso(remote.pulled_at),
            "waiting": remote.to_push,
            "withheld": len(remote.withheld),
            "failure": remote.failure,
        }
        for remote in result.remotes
    ]
    fields = {
        "device": result.device,
        "remotes": remotes,
        "private_wings": [*result.private_wings, *(remote.wing for remote in result.merged_private)],
        "conflicts": result.conflicts,
    }
    lines = [
        (
            f"{remote['name']}: pushed {remote['pushed'] or 'never'}, pulled {remote['pulled'] or 'never'}, "
            f"{remote['waiting']} to push"
        )
        for remote in remotes
    ]
    return Answer(
        fields, "\n".join(lines) or "This memory has no remote; a person adds one: palazzo sync init ADDRESS."
    )


SYNC_PUSH = Tool(
    name="sync_push",
    description="Push what is new here to the remotes that the person's machines share.",
    arguments=(_REMOTE, Argument("dry_run", "Only report what would be pushed.")),
    hints=_OUTSIDE,
    answer=_push,
    output=shape(dry_run=FLAG, remotes=LIST),
)


SYNC_PULL = Tool(
    name="sync_pull",
    description="Pull what the person's other machines have pushed.",
    arguments=(_REMOTE, Argument("dry_run", "Only report what would be pulled.")),
    hints=_OUTSIDE,
    answer=_pull,
    output=shape(dry_run=FLAG, remotes=LIST),
)


SYNC_STATUS = Tool(
    name="sync_status",
    description="Show the remotes of the person's machines, what waits to be pushed, and what is withheld.",
    arguments=(_REMOTE,),
    answer=_status,
    output=shape(device=TEXT, remotes=LIST),
)


FULL = (
    SYNC_PUSH,
    SYNC_PULL,
    SYNC_STATUS,
)
