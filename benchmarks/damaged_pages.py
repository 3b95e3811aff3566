"""What becomes of a palace in which one page is damaged: one case for each kind of page, by zeros and by a flipped bit.

    python benchmarks/damaged_pages.py [--cases 100] [--seed 1] [--only SUBSTRING] [--json FILE] [--keep DIR]

A palace is made by Palazzo's own commands from this repository's documentation and the captured sessions of its tests,
with notes, facts, to-dos, reminders, diaries, tags, tunnels, acts and what was derived of them. Its pages are listed by
SQLite's `dbstat` (each table's and index's leaf, interior and overflow pages, the schema's, those of the free list).
Each case damages one page of a copy, and asks of it, in this order:

    detected   does `verify` say that something is wrong?
    before     how many items does `show` still read, of how many?
    export     does `export` work, or say in one sentence what is wrong?
    salvage    does `export --salvage` write what can be read, and import into an empty palace?
    repair     does `palazzo repair` end with a palace in which every check passes?
    after      how many items, and which share of all records, can be read now?
    backup     does `backup` work again?

A case is held to three rules: every item that `show` read before is read after; every record that is gone is of a kind
that repair named; and nothing ended as a bug. `unnamed` and `bugs` count what breaks the last two.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import apsw

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from palazzo.errors import PalazzoError
from palazzo.features.selftest.archived_truth import Truth, readable_items
from palazzo.operations import damage, registry
from palazzo.operations.context import Context
from palazzo.store import page_kinds
from palazzo.store.page_kinds import PAGE, USED

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
PLACES = (ROOT / "docs", *(FIXTURES / host for host in ("claude-code", "codex", "pi")))
"""What is mined into the palace that is damaged."""
QUERY = "automatic backup"
FACTS = 150
NOTES = 60


@dataclass
class Case:
    """One damaged page, and what became of the palace."""

    kind: str
    page: int
    damage: str
    detected: bool = False
    items_before: int = 0
    export: str = ""
    salvage: str = ""
    salvaged_items: int = 0
    repair: str = ""
    verify_after: bool = False
    items_after: int = 0
    lost_items: int = 0
    """Items that `show` read before and does not now."""
    lost_records: int = 0
    lost_by_kind: dict[str, int] = field(default_factory=dict)
    unnamed: int = 0
    """Items that are gone and that neither `verify` nor `repair` nor `export --salvage` names."""
    search: bool = False
    backup: bool = False
    bugs: list[str] = field(default_factory=list)
    seconds: float = 0.0


def main(arguments: list[str] | None = None) -> int:
    """Make the palace, damage it, and print a line for each kind of page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=0, help="at most so many, evenly over the kinds; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only kinds whose name holds this")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path, help="make the palace here once, and use it again")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="palazzo-damaged-") as directory:
        scratch = Path(directory)
        sound = (options.keep or scratch) / "sound" / "palace.db"
        if not sound.exists():
            make_palace(sound)
        case_starts = [case_start for case_start in choose(sound, options.seed) if options.only in case_start[0]]
        if options.cases and len(case_starts) > options.cases:
            case_starts = [case_starts[n * len(case_starts) // options.cases] for n in range(options.cases)]
        truth = Truth.of(sound)
        print(f"{sound.stat().st_size:,} bytes, {len(truth.items):,} items, {sum(truth.records.values()):,} records")
        cases = []
        for n, (kind, page, damage) in enumerate(case_starts):
            case = try_case(sound, truth, scratch / f"case-{n}", Case(kind, page, damage), options.seed)
            cases.append(case)
            print(line(case), flush=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(case) for case in cases], indent=1))
    summarize(cases, len(truth.items))
    return 0


def surroundings(directory: Path) -> dict[str, str]:
    """The environment of one user in `directory`, without a service."""
    return {"HOME": str(directory / "home"), "PATH": "/usr/bin:/bin", "PALAZZO_SERVICE": "off"}


@contextlib.contextmanager
def open_context(palace: Path, notices: list[str] | None = None) -> Iterator[Context]:
    """A context on a palace, of a person in its directory."""
    notice_list = [] if notices is None else notices
    with Context(palace, palace.parent, surroundings(palace.parent), on_notice=notice_list.append) as context:
        yield context


def carry_out(context: Context, name: str, /, **given: Any) -> Any:
    """Run the operation of that name; what it takes is given by name."""
    operation = registry.operation(name)
    return operation.run(context, operation.request(**given))


# --- the palace --------------------------------------------------------------------------------------------


def make_palace(path: Path, places: Sequence[Path] = PLACES) -> None:
    """Make a palace with some of everything that a palace can hold, and what is mined in these places."""
    path.parent.mkdir(parents=True)
    chance = random.Random(7)
    with open_context(path) as context:
        for place in places:
            carry_out(context, "mine", paths=(place,), mode="auto", min_messages=0, wait=False)
        notes = []
        for n in range(NOTES):
            words = " ".join(chance.choices(["retry", "queue", "ledger", "token", "cache", "index", "branch"], k=12))
            room = ("auth", "build", "storage")[n % 3]
            note = carry_out(context, "remember", text=f"Note {n}: {words}.", wing="api", room=room, kind="decision")
            notes.append(note)
        for n in range(FACTS):
            subject, thing = f"service-{n}", f"port-{8000 + n}"
            carry_out(context, "kg_add", subject=subject, predicate="listens on", object=thing, wing="api")
        for n in range(0, FACTS, 5):
            end = {"subject": f"service-{n}", "predicate": "listens on", "object": f"port-{8000 + n}"}
            carry_out(context, "kg_end", **end)
        carry_out(context, "kg_alias", name="the gateway", entity="service-1")
        for n in range(12):
            todo = carry_out(context, "todo_add", text=f"Check the ledger of day {n}.", wing="api")
            if n % 3 == 0:
                carry_out(context, "todo_done", ids=(todo.todo.id,))
            carry_out(context, "remind", text=f"Rotate key {n}.", at="in 2 days", wing="api")
            carry_out(context, "diary_write", agent="ada", text=f"Day {n}: the queue was read twice.", topic="queue")
        drawers = [note_result.drawers[0] for note_result in notes if note_result.drawers]
        carry_out(context, "tag", action="add", tag="kept", ids=tuple(drawers[:20]))
        carry_out(context, "forget", ids=tuple(drawers[20:26]))
        carry_out(context, "undo")
        carry_out(context, "forget", ids=tuple(drawers[26:30]))
        carry_out(context, "room_rename", room="api/build", name="builds")
        carry_out(context, "tunnel_add", source="api/auth", target="api/storage", label="shares tokens")
        carry_out(context, "token_add", name="laptop")
        carry_out(context, "erase", match="Note 59", dry_run=False)
        carry_out(context, "search", query=QUERY, as_of="2026-01-01")
        palace = context.writing()
        palace.follow_claims()
        palace.follow_digests()
        palace.follow_failures()
        palace.follow_mentions()
        palace.follow_anchors()
        palace.embed_pending()
        with palace.database.outside_transaction() as raw:
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    with contextlib.closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


# --- pages -------------------------------------------------------------------------------------------------


def choose(sound: Path, seed: int) -> list[tuple[str, int, str]]:
    """For each kind of page one that is zeroed and one of which a bit is flipped: (kind, page number, damage)."""
    pages = page_kinds.pages_by_kind(sound)
    chance = random.Random(seed)
    damages = []
    for kind in sorted(pages):
        damages += [(kind, chance.choice(pages[kind]), damage_kind) for damage_kind in ("zeros", "bit")]
    return damages


def damage_page(path: Path, case: Case, seed: int) -> None:
    """Zero the page, or flip a bit of it."""
    with path.open("r+b") as file:
        file.seek((case.page - 1) * PAGE)
        page = bytearray(file.read(PAGE))
        if case.damage == "zeros":
            page = bytearray(PAGE)
        else:
            chance = random.Random(f"{seed} {case.kind}")
            page[chance.randrange(USED)] ^= 1 << chance.randrange(8)
        file.seek((case.page - 1) * PAGE)
        file.write(page)


# --- a case ------------------------------------------------------------------------------------------------


def try_case(sound: Path, truth: Truth, directory: Path, case: Case, seed: int) -> Case:
    """Damage a copy and see what can be done about it."""
    began = time.monotonic()
    path = directory / "palace.db"
    directory.mkdir(parents=True)
    shutil.copy(sound, path)
    damage_page(path, case, seed)
    sentences: list[str] = []

    def attempt(action: str, act: Callable[[], Any]) -> tuple[str, Any]:
        try:
            result = act()
        except PalazzoError as error:
            sentences.append(str(error))
            return f"refused: {error}", None
        except Exception as error:  # noqa: BLE001 - what ends as a bug is what is looked for
            with open_context(path) as damaged_context:
                if damage.explain(damaged_context, error) is not None:
                    sentences.append(str(error))
                    return "refused: damaged", None
            case.bugs.append(f"{action}: {type(error).__name__}: {error}")
            return f"bug: {type(error).__name__}", None
        sentences.append(repr(result))
        return "done", result

    def run(name: str, /, **given: Any) -> tuple[str, Any]:
        with open_context(path, sentences) as context:
            return attempt(name, lambda: carry_out(context, name, **given))

    outcome, checks = run("verify")
    case.detected = outcome != "done" or not checks.ok
    items_before = readable_items(path, truth.items)
    case.items_before = len(items_before)
    run("doctor", canaries=False)
    run("search", query=QUERY)
    case.export, _ = run("export", out=directory / "plain.jsonl")
    _try_salvage(case, run, directory, truth)
    case.repair, repair_result = run("repair")
    if repair_result is None or not repair_result.ok:
        case.repair, repair_result = run("repair", rebuild="all")
    if repair_result is not None and not repair_result.ok:
        case.repair = f"not ok: {[check for check in repair_result.checks if not check.ok]}"
    outcome, checks = run("verify")
    case.verify_after = outcome == "done" and checks.ok
    items_after = readable_items(path, truth.items)
    case.items_after, case.lost_items = len(items_after), len(items_before - items_after)
    everything = "\n".join(sentences)
    case.unnamed = sum(item not in everything for item in truth.items.keys() - items_after)
    with contextlib.suppress(Exception):
        lost_records = truth.records - Truth.of(path).records
        case.lost_records = sum(lost_records.values())
        case.lost_by_kind = dict(Counter(kind for kind, _ in lost_records.elements()))
    outcome, answer = run("search", query=QUERY)
    case.search = outcome == "done" and bool(answer.hits)
    outcome, _ = run("backup", target=directory / "again.db")
    case.backup = outcome == "done"
    case.seconds = round(time.monotonic() - began, 1)
    shutil.rmtree(directory)
    return case


def _try_salvage(case: Case, run: Callable[..., tuple[str, Any]], directory: Path, truth: Truth) -> None:
    out = directory / "salvaged.jsonl"
    if "salvage" not in registry.operation("export").request.__dataclass_fields__:
        case.salvage = "none"
        return
    case.salvage, _ = run("export", out=out, salvage=True)
    if case.salvage != "done":
        return
    fresh = directory / "fresh" / "palace.db"
    fresh.parent.mkdir()
    with open_context(fresh) as context:
        try:
            carry_out(context, "import", path=out, trust="user")
        except Exception as error:  # noqa: BLE001 - what cannot be imported is no salvage, whatever it raised
            case.salvage = f"cannot be imported: {type(error).__name__}: {error}"
            case.bugs.append(case.salvage)
            return
    case.salvaged_items = len(readable_items(fresh, truth.items))


def line(case: Case) -> str:
    """A line about one case."""
    marks = "".join(
        letter if good else "-"
        for letter, good in (
            ("D", case.detected),
            ("E", case.export == "done"),
            ("S", case.salvage == "done"),
            ("R", case.repair == "done"),
            ("V", case.verify_after),
            ("Q", case.search),
            ("B", case.backup),
        )
    )
    losses = ", ".join(f"{kind} {n}" for kind, n in sorted(case.lost_by_kind.items()))
    bugs = f"  BUG {case.bugs}" if case.bugs else ""
    counts = f"{case.items_before}/{case.salvaged_items}/{case.items_after} items"
    if case.salvage not in ("done", "none"):
        bugs += f"  SALVAGE {case.salvage}"
    if case.repair != "done":
        bugs += f"  REPAIR {case.repair}"
    return f"{marks} {case.damage:5} {case.kind:44} {counts}, {case.lost_records} records gone ({losses}){bugs}"


def summarize(cases: list[Case], count: int) -> None:
    """Print a row for each group of kinds."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        groups[f"{group_of(case.kind)}, {case.damage}"].append(case)
    print(f"\n{'kind of page':36} cases found export salvage repaired whole backup bugs  readable before/after")
    for name, group in [*sorted(groups.items()), ("all", cases)]:
        sums = (
            len(group),
            sum(case.detected for case in group),
            sum(case.export == "done" for case in group),
            sum(case.salvage == "done" for case in group),
            sum(case.verify_after for case in group),
            sum(case.verify_after and not case.lost_records for case in group),
            sum(case.backup for case in group),
            sum(bool(case.bugs) for case in group),
        )
        items_before, items_after = (
            sum(getattr(case, f"items_{moment}") for case in group) for moment in ("before", "after")
        )
        text = " ".join(f"{number:6}" for number in sums)
        print(f"{name:36} {text}  {items_before:,}/{items_after:,} of {count * len(group):,}")
    print(f"items read before and not after: {sum(case.lost_items for case in cases)}")
    print(f"items gone that nothing names: {sum(case.unnamed for case in cases)}")


def group_of(kind: str) -> str:
    """The group that a kind of page is told in."""
    name, _, part = kind.rpartition(" ")
    if kind == "free list":
        return "free list"
    if name == "sqlite_schema":
        return "schema"
    if name.startswith("keyword"):
        return f"keyword index {part}"
    if "_" in name and name.startswith("sqlite_autoindex"):
        return f"index {part}"
    tables = ("item", "pack", "link", "source", "act", "act_span", "revision", "drawer", "passage", "vector")
    if name in tables:
        return f"{name} {part}"
    return f"other {part}"


if __name__ == "__main__":
    raise SystemExit(main())
