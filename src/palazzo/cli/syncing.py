"""How syncing looks to a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from palazzo.cli.exchanging import show_variants
from palazzo.cli.screen import Screen
from palazzo.operations.sync_devices import SyncDevicesResult
from palazzo.operations.sync_init import SyncInitResult
from palazzo.operations.sync_key import SyncKeyResult
from palazzo.operations.sync_now import SyncNowResult
from palazzo.operations.sync_private import MergedPrivate, SyncPrivateResult
from palazzo.operations.sync_pull import PulledView, SyncPullResult
from palazzo.operations.sync_push import PushedView, SyncPushResult
from palazzo.operations.sync_remove import SyncRemoveResult
from palazzo.operations.sync_status import RemoteStatus, SyncStatusResult
from palazzo.text.counts import agree, count_noun
from palazzo.text.times import to_iso

_WHY = {"private": "private", "filtered": "of other wings", "secret": "with a secret in it", "large": "too large"}
_ID = 8


def sync_init(screen: Screen, result: SyncInitResult) -> None:
    """Say what the remote is now, and what the other devices need."""
    sealed = f", sealed by a {result.sealing}" if result.sealing else ""
    what = "Begun" if result.begun else "Joined" if result.joined else "Known"
    screen.say(f"{what}: ", (result.name, "bold"), f" at {result.address} ({result.kind}{sealed})")
    if result.joined:
        screen.say(
            f"This palace is a device of the palace {result.palace[:_ID]} now. What its devices say counts as yours, "
            "and they can erase here: 'palazzo sync devices' lists them."
        )
    if result.new_device:
        screen.say(f"This palace is a device of its own now: {result.device[:_ID]}")
    if result.key_file is not None:
        screen.say(f"The key for the other devices is in {result.key_file}; carry it over as you would a password.")
    elif result.begun and result.key_needed:
        what, how = ("the remote's", f" --remote {result.name}") if result.sealing else ("the palace's", "")
        screen.say((f"Other devices need {what} key: 'palazzo sync key FILE{how}' saves it.", "dim"))


def sync_now(screen: Screen, result: SyncNowResult) -> None:
    """Say what came from each remote, and what went there."""
    for came in result.pulled:
        _pulled(screen, came, dry_run=False)
    _files(screen, result.removed, result.mend)
    for went in result.pushed:
        _pushed(screen, went, dry_run=False)


def sync_push(screen: Screen, result: SyncPushResult) -> None:
    """Say what went to each remote."""
    for one in result.remotes:
        _pushed(screen, one, result.dry_run)


def _pushed(screen: Screen, one: PushedView, dry_run: bool) -> None:
    if not one.records and not one.segments:
        screen.say((one.remote, "bold"), ": nothing new to bring")
    else:
        would = "would bring" if dry_run else "brought"
        size = "" if dry_run else f" ({count_noun(one.segments, 'segment')}, {one.bytes / 1000:,.0f} kB)"
        screen.say((one.remote, "bold"), f": {would} {_records(one.records)}{size}")
    if one.anew:
        told = (
            "would be told anew, and what stands there removed"
            if dry_run
            else "was told anew; what stood there before is removed"
        )
        screen.say((f"All {told}.", "dim"))
    if one.withheld:
        stays = ", ".join(f"{n:,} {_WHY[why]}" for why, n in one.withheld.items())
        screen.say((f"Stays here: {stays}. 'palazzo sync status --json' lists them.", "yellow"))


def sync_pull(screen: Screen, result: SyncPullResult) -> None:
    """Say what came from each remote."""
    for one in result.remotes:
        _pulled(screen, one, result.dry_run)
    _files(screen, result.removed, result.mend)


def _files(screen: Screen, removed: Sequence[str], mend: Sequence[str]) -> None:
    for path in removed:
        screen.say((f"Held what was erased, and is gone: {path}", "dim"))
    for path in mend:
        screen.say((f"Still holds what was erased; mend it: {path}", "yellow"))


def _pulled(screen: Screen, one: PulledView, dry_run: bool) -> None:
    if not one.segments:
        screen.say((one.remote, "bold"), ": nothing new")
    else:
        would = "would take in" if dry_run else "took in"
        devices = count_noun(len(one.devices), "device")
        screen.say((one.remote, "bold"), f": {would} {_records(one.added) or 'nothing new'} of {devices}")
    if one.changed:
        screen.say((f"Known already, and more now: {_records(one.changed)}", "dim"))
    if one.erased:
        screen.say(f"Carried out {count_noun(one.erased, 'erasure')} of other devices.")
    if one.conflicts:
        screen.say(
            (
                f"{count_noun(len(one.conflicts), 'conflict')}: 'palazzo kg conflicts' shows what cannot both hold",
                "yellow",
            )
        )
    show_variants(screen, one.variants)
    if one.missing:
        records = f"{count_noun(one.missing, 'record')} {agree(one.missing, 'waits', 'wait')}"
        screen.say((f"{records} for records that another device has not pushed yet.", "dim"))
    for note in one.notes:
        screen.say((note, "yellow"))


def sync_status(screen: Screen, result: SyncStatusResult) -> None:
    """Say where each remote stands."""
    screen.say("This device: ", (result.name or "unnamed", "bold"), (f"  {result.device[:_ID]}", "dim"))
    if result.words:
        screen.say((f"  {result.words}", "dim"))
    for refusal in result.refused:
        screen.say((f"{refusal.remote}: {refusal.reason}", "yellow"))
    if not result.remotes:
        screen.say(("No remote yet; 'palazzo sync init ADDRESS' gives this palace one.", "dim"))
    for one in result.remotes:
        _remote(screen, one)
    if result.private_wings:
        screen.say(f"Private wings: {', '.join(result.private_wings)}")
    _merged(screen, result.merged_private)
    if result.conflicts:
        screen.say(
            (
                f"{count_noun(result.conflicts, 'conflict')}: 'palazzo kg conflicts' shows what cannot both hold",
                "yellow",
            )
        )


def _remote(screen: Screen, one: RemoteStatus) -> None:
    notes = [f"sealed by a {one.sealing}"] if one.sealing else []
    notes += [f"only {', '.join(one.wings)}"] if one.wings else []
    notes += ["automatic"] if one.automatic else []
    screen.say((one.name, "bold"), f"  {one.address}", (f"  {'; '.join(notes)}", "dim"))
    pushed = f"pushed {to_iso(one.pushed_at)}" if one.pushed_at else "never pushed"
    pulled = f"pulled {to_iso(one.pulled_at)}" if one.pulled_at else "never pulled"
    there = "" if one.to_pull is None else f"; {count_noun(one.to_pull, 'segment')} to pull"
    screen.say(f"  {pushed}, {pulled}")
    parts = [count_noun(one.waiting, "item")] if one.waiting or not one.other_news else []
    parts += (
        ["other news"]
        if one.other_news is None
        else [count_noun(one.other_news, "other record")]
        if one.other_news
        else []
    )
    screen.say(f"  {' and '.join(parts)} to push{there}")
    for device in one.devices:
        limit = "" if device.may == "erase" else f"; {_MAY.get(device.may, device.may)}"
        screen.say((f"  {device.name or 'unnamed'} {device.id[:_ID]}: up to {to_iso(device.seen_at)}{limit}", "dim"))
        if device.words:
            screen.say((f"    {device.words}", "dim"))
    if one.erased_there:
        screen.say(("  What was erased here may still stand there: 'palazzo sync push' takes it away.", "yellow"))
    if one.withheld:
        reasons: dict[str, int] = {}
        for item in one.withheld:
            reasons[item.why] = reasons.get(item.why, 0) + 1
        screen.say("  stays here: " + ", ".join(f"{n:,} {_WHY[why]}" for why, n in sorted(reasons.items())))
    if one.failure:
        screen.say((f"  failed {to_iso(one.failed_at) if one.failed_at else ''}: {one.failure}", "yellow"))


_MAY = {
    "erase": "may do everything",
    "change": "may add and change",
    "add": "may only add",
    "nothing": "removed",
    "waits": "waits to be trusted",
}


def sync_devices(screen: Screen, result: SyncDevicesResult) -> None:
    """List devices with the words of their keys."""
    if result.trusted is not None:
        screen.say("Trusted: ", (result.trusted, "bold"))
    if result.removed is not None:
        screen.say("Removed: ", (result.removed, "bold"), ". Key files that were saved before introduce nobody now.")
    for device in result.devices:
        own_mark = " (this device)" if device.is_this else ""
        last_contact = f", heard of last {to_iso(device.heard_at)}" if device.heard_at and not device.is_this else ""
        screen.say(
            (device.name or "unnamed", "bold"), f"  {device.id[:_ID]}{own_mark}: {_MAY[device.may]}{last_contact}"
        )
        screen.say((f"  {device.words or 'has not signed yet'}", "dim"))
        if device.refused:
            screen.say((f"  {device.refused}", "yellow"))


def sync_private(screen: Screen, result: SyncPrivateResult) -> None:
    """List the wings of which nothing leaves."""
    if result.private or not result.merged:
        screen.say(f"Private: {', '.join(result.private)}" if result.private else ("No wing is private.", "dim"))
    _merged(screen, result.merged)
    for name in result.created:
        screen.say(f"'{name}' is empty: what is filed there stays on this machine.")
    for name in result.left_already:
        screen.say((f"Of '{name}' something went to a remote before; 'palazzo erase' reaches it there.", "yellow"))


def _merged(screen: Screen, merged: Sequence[MergedPrivate]) -> None:
    for one in merged:
        screen.say(
            f"Private: {one.wing}, a part of '{one.into}' now, so nothing of '{one.into}' leaves, either; "
            f"'palazzo sync private --public {one.wing}' lets both."
        )


def sync_key(screen: Screen, result: SyncKeyResult) -> None:
    """Say where the key is."""
    screen.say("Saved: ", (result.file, "bold"), ("  Carry it over as you would a password.", "dim"))


def sync_remove(screen: Screen, result: SyncRemoveResult) -> None:
    """Say which remote is forgotten."""
    screen.say("Forgotten: ", (result.name, "bold"), f"  {result.address}")


def _records(counts: Mapping[str, int]) -> str:
    named = {kind: n for kind, n in counts.items() if kind != "link"} or counts
    return ", ".join(count_noun(n, kind.replace("_", " ")) for kind, n in named.items())
