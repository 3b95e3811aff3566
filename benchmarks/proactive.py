"""Measure what prompts are told by the hook: ordinary ones, which call for nothing, and questions, which do.

    python benchmarks/proactive.py [--distractors 20000] [--split dev|held-out|all] [--json]

Works in the coding suite's palace. An ordinary prompt is sent from each of its four projects and from two foreign ones,
and again as what follows another ordinary prompt; whatever it is told is noise. A question is sent from the project of
its answer: `right` is the share that is told a drawer which answers, `of what is told` how much of that does. A
follow-up (`coding/follow-ups.yaml`) is a few words that take their subject from the turn before. Tune on `dev` alone.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.coding.distractors import remembering
from benchmarks.coding.filing import file_corpus, right_drawers
from benchmarks.coding.questions import Question, read_prompts, read_questions, split
from benchmarks.coding.sessions import read_sessions, session_id, write_session
from benchmarks.coding_suite import PROJECTS, Surroundings, palace_wing
from benchmarks.measuring import Row, report

from palazzo.features.facts.contract import KgAddRequest
from palazzo.features.facts.kg_add import kg_add
from palazzo.features.hooks.contract import HookRequest
from palazzo.features.hooks.hook import hook
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine
from palazzo.store import hook_sessions, ledger

FOLLOW_UPS = Path(__file__).parent / "coding" / "follow-ups.yaml"
HOMES = (*PROJECTS, "docs", "acme")
"""Where ordinary prompts are sent from: also from the greatest two wings of the foreign drawers."""
COMMON = ("test", "cache", "build", "config", "user", "page", "error", "button", "table", "query", "main", "login")
"""Names that facts may have and ordinary prompts use."""
_LATELY = {"branch": "main", "begin": "2026-05-31T10:00:00"}
REPLY = "Done: I have changed it as you asked, and the tests pass."


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A turn, and a prompt that follows it. `answer` is the question whose answer it calls for, None if it calls for
    nothing."""

    said: str
    reply: str
    prompt: str
    answer: str | None

    @property
    def split(self) -> str:
        """The half it belongs to."""
        return split(self.prompt)


class Sessions:
    """Sends prompts, each in a session of its own."""

    def __init__(self, context: Surroundings, scratch: Path) -> None:
        self._context, self._scratch, self._numbers = context, scratch, itertools.count()
        self._directories = {Path(one["cwd"]).name: str(one["cwd"]) for one in read_sessions()}

    def told(self, prompt: str, wing: str) -> list[str]:
        """Return the ids of what a prompt is told in a session that begins with it."""
        return self._told(prompt, wing, f"proactive-{next(self._numbers)}")

    def told_after(self, turns: Sequence[tuple[str, str]], prompt: str, wing: str) -> list[str]:
        """Return the ids of what a prompt is told after these turns of a human and an agent."""
        name = f"proactive-{next(self._numbers)}"
        steps = [step for human, agent in turns for step in ({"u": human}, {"a": agent})]
        written = {"id": name, "cwd": self._directories.get(wing, f"/w/{wing}"), **_LATELY, "steps": steps}
        path = write_session(self._scratch / "later", written)
        palace = self._context.writing()
        mine(palace.database, palace.clock, MineRequest((path,)))
        return self._told(prompt, wing, session_id(name))

    def _told(self, prompt: str, wing: str, session: str) -> list[str]:
        self._context.at = wing
        self._context.__dict__.pop("home", None)
        hook(self._context, HookRequest("claude-code", "prompt", session, prompt=prompt))
        with self._context.reading().database.snapshot() as connection:
            known = hook_sessions.find(connection, "claude-code", session)
            given = [] if known is None else ledger.injections(connection, known.row)
        return [part.uid for one in given for part in one.parts]


def main(arguments: Sequence[str] | None = None) -> int:
    """Send all prompts and print the figures."""
    given = _arguments().parse_args(arguments)
    halves = ("dev", "held-out") if given.split == "all" else (given.split,)
    with tempfile.TemporaryDirectory(prefix="palazzo-proactive-") as scratch:
        embedder = remembering()
        palace = file_corpus(Path(scratch), given.distractors, embedder)
        with Surroundings(palace, embedder) as context:
            sessions = Sessions(context, Path(scratch))
            asked = [one for one in read_questions() if one.split in halves and one.golds]
            with context.reading().database.snapshot() as connection:
                right = right_drawers(connection, read_questions())
            rows = [row for half in halves for row in ordinary(sessions, half)]
            rows += [row for half in halves for row in questions(sessions, context, asked, right, half)]
            facts = ((name, wing) for name in COMMON for wing in HOMES)
            for name, wing in facts:
                kg_add(context, KgAddRequest(name, "is handled by", f"the {name} team", wing=wing))
            rows += [row for half in halves for row in ordinary(sessions, half, ", facts about common names")]
            rows += [row for half in halves for row in follow_ups(sessions, context, right, half)]
            rows += [row for half in halves for row in after_another(sessions, half)]
    report(f"Proactive context ({given.split})", rows, given.json)
    return 0


def ordinary(sessions: Sessions, half: str, where: str = "") -> Iterator[Row]:
    """Yield the share of ordinary prompts that are told anything, each as the first of a session."""
    sent = [(prompt, wing) for prompt in read_prompts() if split(prompt) == half for wing in HOMES]
    told = [(prompt, wing) for prompt, wing in sent if sessions.told(prompt, wing)]
    yield _share(f"ordinary prompts{where}", half, len(sent), len(told))
    _say(told)


def after_another(sessions: Sessions, half: str) -> Iterator[Row]:
    """Yield the same of ordinary prompts that follow another one."""
    prompts = [one for one in read_prompts() if split(one) == half]
    turns = zip(prompts[-1:] + prompts[:-1], prompts, itertools.cycle(HOMES), strict=False)
    told = [(prompt, wing) for last, prompt, wing in turns if sessions.told_after([(last, REPLY)], prompt, wing)]
    yield _share("ordinary prompts, each after another", half, len(prompts), len(told))
    _say(told)


def _say(told: Sequence[tuple[str, str]]) -> None:
    for prompt, wing in told:
        print(f"told something in {wing}: {prompt}", file=sys.stderr)


def _share(what: str, half: str, number: int, told: int) -> Row:
    return {"what": what, "half": half, "number": number, "told anything, %": round(100 * told / number, 1)}


def questions(
    sessions: Sessions, context: Surroundings, asked: Sequence[Question], right: dict[str, set[str]], half: str
) -> Iterator[Row]:
    """Yield how many questions are told what answers them."""
    found = [
        (set(sessions.told(one.text, palace_wing(context, right[one.id]))), right[one.id])
        for one in asked
        if one.split == half
    ]
    yield _answered("questions", half, found)


def follow_ups(sessions: Sessions, context: Surroundings, right: dict[str, set[str]], half: str) -> Iterator[Row]:
    """Yield how many prompts that go on from a turn are told what answers them."""
    found = []
    for one in read_follow_ups():
        if one.split == half and one.answer is not None:
            wing = palace_wing(context, right[one.answer])
            told = set(sessions.told_after([(one.said, one.reply)], one.prompt, wing))
            found.append((told, right[one.answer]))
    if found:
        yield _answered("follow-ups", half, found)


def read_follow_ups() -> list[Dialogue]:
    """Read the dialogues."""
    if not FOLLOW_UPS.exists():
        return []
    rows = yaml.safe_load(FOLLOW_UPS.read_text("utf-8"))
    return [Dialogue(row["said"], row["reply"], row["prompt"], row.get("answer")) for row in rows]


def _answered(what: str, half: str, found: Sequence[tuple[set[str], set[str]]]) -> Row:
    given = sum(len(told) for told, _ in found)
    hits = sum(len(told & right) for told, right in found)
    return {
        **_share(what, half, len(found), sum(bool(told) for told, _ in found)),
        "right": sum(bool(told & right) for told, right in found),
        "right, %": round(100 * sum(bool(told & right) for told, right in found) / max(len(found), 1), 1),
        "told": given,
        "of what is told, right": hits,
        "of what is told, right, %": round(100 * hits / max(given, 1), 1),
    }


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure what prompts are told.")
    parser.add_argument("--distractors", type=int, default=20_000, help="foreign drawers; 0: the corpus alone")
    parser.add_argument("--split", choices=("dev", "held-out", "all"), default="dev")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
