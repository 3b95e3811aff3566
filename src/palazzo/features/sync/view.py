"""Terminal output of syncing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from palazzo.features.portability.view import show_variants
from palazzo.features.screen import Screen
from palazzo.features.sync.contract import (
    MergedPrivate,
    PulledView,
    PushedView,
    RemoteStatus,
    SyncDevicesResult,
    SyncInitResult,
    SyncKeyResult,
    SyncNowResult,
    SyncPrivateResult,
    SyncPullResult,
    SyncPushResult,
    SyncRemoveResult,
    SyncStatusResult,
)
from palazzo.text.count_phrases import agree, count_noun
from palazzo.text.times import to_iso

_WHY = {"private": "private", "filtered": "of other wings", "secret": "containing a secret", "large": "too large"}
_ID = 8


def sync_init(screen: Screen, result: SyncInitResult) -> None:
    """Say what the remote is now, and what the other devices need."""
    sealing_note = f", sealed by a {result.sealing}" if result.sealing else ""
    label = "Begun" if result.begun else "Joined" if result.joined else "Known"
    screen.say(f"{label}: ", (result.name, "bold"), f" at {result.address} ({result.kind}{sealing_note})")
    if result.joined:
        screen.say(
            f"This palace is now a device of the palace {result.palace[:_ID]}. Content from its devices counts as "
            "yours, and they can erase here: 'palazzo sync devices' lists them."
        )
    if result.new_device:
        screen.say(f"This palace is now a separate device: {result.device[:_ID]}")
    if result.key_file is not None:
        screen.say(f"The key for the other devices is in {result.key_file}; treat it like a password when you copy it.")
    elif result.begun and result.key_needed:
        label, option = ("the remote's", f" --remote {result.name}") if result.sealing else ("the palace's", "")
        screen.say((f"Other devices need {label} key: save it with 'palazzo sync key FILE{option}'.", "dim"))


def sync_now(screen: Screen, result: SyncNowResult) -> None:
    """Say what was received from each remote, and what was sent to it."""
    for came in result.pulled:
        _show_pull(screen, came, dry_run=False)
    _files(screen, result.removed, result.mend)
    for went in result.pushed:
        _show_push(screen, went, dry_run=False)


def sync_push(screen: Screen, result: SyncPushResult) -> None:
    """Say what was sent to each remote."""
    for push in result.remotes:
        _show_push(screen, push, result.dry_run)


def _show_push(screen: Screen, push: PushedView, dry_run: bool) -> None:
    if not push.records and not push.segments:
        screen.say((push.remote, "bold"), ": nothing new to push")
    else:
        would = "would bring" if dry_run else "brought"
        size = "" if dry_run else f" ({count_noun(push.segments, 'segment')}, {push.bytes / 1000:,.0f} kB)"
        screen.say((push.remote, "bold"), f": {would} {_records(push.records)}{size}")
    if push.anew:
        action = (
            "would be pushed again, and the present content there removed"
            if dry_run
            else "was pushed again; the former content there is removed"
        )
        screen.say((f"All {action}.", "dim"))
    if push.withheld:
        stays = ", ".join(f"{n:,} {_WHY[why]}" for why, n in push.withheld.items())
        screen.say((f"Not pushed: {stays}. 'palazzo sync status --json' lists them.", "yellow"))


def sync_pull(screen: Screen, result: SyncPullResult) -> None:
    """Say what was received from each remote."""
    for pull in result.remotes:
        _show_pull(screen, pull, result.dry_run)
    _files(screen, result.removed, result.mend)


def _files(screen: Screen, removed: Sequence[str], mend: Sequence[str]) -> None:
    for path in removed:
        screen.say((f"Contained erased words and was removed: {path}", "dim"))
    for path in mend:
        screen.say((f"Still contains erased words; fix it: {path}", "yellow"))


def _show_pull(screen: Screen, pull: PulledView, dry_run: bool) -> None:
    if not pull.segments:
        unreadable_devices = count_noun(len(pull.unreadable), "device")
        finding = f"{unreadable_devices} could not be read" if pull.unreadable else "nothing new"
        screen.say((pull.remote, "bold"), f": {finding}")
    else:
        would = "would take in" if dry_run else "took in"
        devices = count_noun(len(pull.devices), "device")
        screen.say((pull.remote, "bold"), f": {would} {_records(pull.added) or 'nothing new'} of {devices}")
    if pull.changed:
        screen.say((f"Updated: {_records(pull.changed)}", "dim"))
    if pull.erased:
        screen.say(f"Applied {count_noun(pull.erased, 'erasure')} from other devices.")
    if pull.conflicts:
        screen.say(
            (
                f"{count_noun(len(pull.conflicts), 'conflict')}: see 'palazzo kg conflicts'",
                "yellow",
            )
        )
    show_variants(screen, pull.variants)
    if pull.missing:
        records = f"{count_noun(pull.missing, 'record')} {agree(pull.missing, 'waits', 'wait')}"
        screen.say((f"{records} for records that another device has not pushed yet.", "dim"))
    for note in pull.notes:
        screen.say((note, "yellow"))


def sync_status(screen: Screen, result: SyncStatusResult) -> None:
    """Show the state of each remote."""
    screen.say("This device: ", (result.name or "unnamed", "bold"), (f"  {result.device[:_ID]}", "dim"))
    if result.words:
        screen.say((f"  {result.words}", "dim"))
    for refusal in result.refused:
        screen.say((f"{refusal.remote}: {refusal.reason}", "yellow"))
    if not result.remotes:
        screen.say(("No remote yet; add one with 'palazzo sync init ADDRESS'.", "dim"))
    for remote in result.remotes:
        _remote(screen, remote)
    if result.private_wings:
        screen.say(f"Private wings: {', '.join(result.private_wings)}")
    _merged(screen, result.merged_private)
    if result.conflicts:
        screen.say(
            (
                f"{count_noun(result.conflicts, 'conflict')}: see 'palazzo kg conflicts'",
                "yellow",
            )
        )


def _remote(screen: Screen, remote: RemoteStatus) -> None:
    notes = [f"sealed by a {remote.sealing}"] if remote.sealing else []
    notes += [f"only {', '.join(remote.wings)}"] if remote.wings else []
    notes += ["automatic"] if remote.automatic else []
    screen.say((remote.name, "bold"), f"  {remote.address}", (f"  {'; '.join(notes)}", "dim"))
    last_push = f"pushed {to_iso(remote.pushed_at)}" if remote.pushed_at else "never pushed"
    last_pull = f"pulled {to_iso(remote.pulled_at)}" if remote.pulled_at else "never pulled"
    backlog = "" if remote.to_pull is None else f"; {count_noun(remote.to_pull, 'segment')} to pull"
    screen.say(f"  {last_push}, {last_pull}")
    parts = [count_noun(remote.waiting, "item")] if remote.waiting or not remote.other_news else []
    parts += (
        ["other news"]
        if remote.other_news is None
        else [count_noun(remote.other_news, "other record")]
        if remote.other_news
        else []
    )
    screen.say(f"  {' and '.join(parts)} to push{backlog}")
    for device in remote.devices:
        limit = "" if device.may == "erase" else f"; {_MAY.get(device.may, device.may)}"
        screen.say((f"  {device.name or 'unnamed'} {device.id[:_ID]}: up to {to_iso(device.seen_at)}{limit}", "dim"))
        if device.words:
            screen.say((f"    {device.words}", "dim"))
    if remote.erased_there:
        screen.say(("  Words erased here may still be there: 'palazzo sync push' removes them.", "yellow"))
    if remote.withheld:
        reasons: dict[str, int] = {}
        for item in remote.withheld:
            reasons[item.why] = reasons.get(item.why, 0) + 1
        screen.say("  stays here: " + ", ".join(f"{n:,} {_WHY[why]}" for why, n in sorted(reasons.items())))
    if remote.failure:
        screen.say((f"  failed {to_iso(remote.failed_at) if remote.failed_at else ''}: {remote.failure}", "yellow"))


_MAY = {
    "erase": "may do everything",
    "change": "may add and change",
    "add": "may only add",
    "nothing": "removed",
    "waits": "waiting for trust",
}


def sync_devices(screen: Screen, result: SyncDevicesResult) -> None:
    """List devices with the words of their keys."""
    if result.trusted is not None:
        screen.say("Trusted: ", (result.trusted, "bold"))
    if result.removed is not None:
        screen.say("Removed: ", (result.removed, "bold"), ". Key files saved earlier no longer admit devices.")
    for device in result.devices:
        own_mark = " (this device)" if device.is_this else ""
        last_contact = f", last contact {to_iso(device.heard_at)}" if device.heard_at and not device.is_this else ""
        screen.say(
            (device.name or "unnamed", "bold"), f"  {device.id[:_ID]}{own_mark}: {_MAY[device.may]}{last_contact}"
        )
        screen.say((f"  {device.words or 'has not signed yet'}", "dim"))
        if device.refused:
            screen.say((f"  {device.refused}", "yellow"))


def sync_private(screen: Screen, result: SyncPrivateResult) -> None:
    """List the wings that are never sent."""
    if result.private or not result.merged:
        screen.say(f"Private: {', '.join(result.private)}" if result.private else ("No wing is private.", "dim"))
    _merged(screen, result.merged)
    for name in result.created:
        screen.say(f"'{name}' is empty: anything filed there stays on this machine.")
    for name in result.left_already:
        screen.say((f"Content of '{name}' was pushed to a remote before; 'palazzo erase' reaches it there.", "yellow"))


def _merged(screen: Screen, merged: Sequence[MergedPrivate]) -> None:
    for private_wing in merged:
        screen.say(
            f"Private: {private_wing.wing}, now a part of '{private_wing.into}', so nothing of '{private_wing.into}' "
            f"is synced either; 'palazzo sync private --public {private_wing.wing}' allows both."
        )


def sync_key(screen: Screen, result: SyncKeyResult) -> None:
    """Say where the key is."""
    screen.say("Saved: ", (result.file, "bold"), ("  Treat it like a password when you copy it.", "dim"))


def sync_remove(screen: Screen, result: SyncRemoveResult) -> None:
    """Say which remote was forgotten."""
    screen.say("Forgotten: ", (result.name, "bold"), f"  {result.address}")


def _records(counts: Mapping[str, int]) -> str:
    counts_by_kind = {kind: n for kind, n in counts.items() if kind != "link"} or counts
    return ", ".join(count_noun(n, kind.replace("_", " ")) for kind, n in counts_by_kind.items())
