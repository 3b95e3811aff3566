"""What a prompt is told that asks for nothing: what it calls for in the session that it is sent in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.archive.conversations import called, file_rows
from tests.archive.conversations import said as row
from tests.derived import test_digests
from tests.derived.test_failures import ERROR, SESSION, TESTS, ran
from tests.features.hooks.test_hook import START, Clock, injections, note

from palazzo.archive.ingest import NewItem
from palazzo.features.facts.contract import KgAddRequest
from palazzo.features.facts.kg_add import kg_add
from palazzo.features.hooks.contract import HookRequest, HookResult
from palazzo.features.hooks.hook import hook
from palazzo.features.notes.contract import RememberRequest
from palazzo.features.notes.remember import remember
from palazzo.features.tasks.contract import RemindRequest
from palazzo.features.tasks.remind import remind
from palazzo.model import ItemId, Micros, Place, Source
from palazzo.operations.context import Context

PROMPT = HookRequest("claude-code", "prompt", "s-1", prompt="why only four?")
DEPLOY = (
    "The staging deploy fails with EADDRINUSE on port 8443 when the old pod has not let go of it: wait ten seconds"
    " and run the deploy again."
)
CALLS_FOR_IT = "The staging deploy fails again with EADDRINUSE on port 8443: has the old pod not let go of it?"
Ask = Callable[[HookRequest], HookResult]


@pytest.fixture
def clock() -> Clock:
    return Clock()


# The floor is lowered: without vectors, and where a tenth of all drawers is about a thing, little scores 0.7.
@pytest.fixture
def context(tmp_path: Path, clock: Clock) -> Iterator[Context]:
    project = tmp_path / "api"
    (project / "src").mkdir(parents=True)
    (project / "src" / "cart.py").touch()
    variables = {
        "HOME": str(tmp_path),
        "PALAZZO_SERVICE": "off",
        "TZ": "UTC",
        "PALAZZO_PROACTIVE_FLOOR": "60",
        "PALAZZO_MIN_MESSAGES": "1",
    }
    with Context(tmp_path / "palace.db", project, variables, clock=clock) as opened:
        note(opened, "The api has a timeout of two seconds.")  # the palace knows the project
        others = [
            row(n, "user", f"Machine {n} is checked for its health before the next is updated.") for n in range(9)
        ]
        took_place(opened, others, "s-others")
        yield opened


@pytest.fixture
def ask(context: Context) -> Ask:
    return lambda request: hook(context, request)


def took_place(context: Context, rows: list[NewItem], session: str = "s-1", at: Micros | None = None) -> None:
    """File what was said in a session, as its transcript would bring it."""
    source = Source(("session", session), "claude-code", f"file:///{session}.jsonl", session, "A session")
    rows = [replace(one, id=ItemId(f"{n:016x}{abs(hash(session)):016x}"[:32])) for n, one in enumerate(rows, 1)]
    if at is not None:
        rows = [replace(one, created_at=at) for one in rows]
    file_rows(context.writing(), rows, source=source, place=Place(context.project_wing, "sessions"))


# --- the turn before ---------------------------------------------------------------------------------------


def test_a_short_prompt_takes_its_subject_from_the_turn_before(context: Context, ask: Ask, clock: Clock) -> None:
    note(context, DEPLOY)
    short = replace(PROMPT, prompt="and the pod?")
    assert ask(short).inject == ""
    turn = [
        row(1, "user", "The staging deploy fails again."),
        row(2, "assistant", "EADDRINUSE on port 8443: has the old pod not let go?"),
    ]
    took_place(context, turn, at=clock.now)
    assert DEPLOY in ask(short).inject


@pytest.mark.parametrize("prompt", ["go on", "yes", "add a unit test for the parser and run all of them"])
def test_what_says_nothing_or_enough_by_itself_takes_none(context: Context, ask: Ask, prompt: str) -> None:
    note(context, DEPLOY)
    took_place(context, [row(1, "user", CALLS_FOR_IT), row(2, "assistant", "I looked at the pods.")])
    assert ask(replace(PROMPT, prompt=prompt)).inject == ""


def test_what_the_archive_lacks_is_read_from_the_end_of_the_transcript(context: Context, ask: Ask) -> None:
    note(context, DEPLOY)
    path = Path(context.variables["HOME"]) / ".claude" / "projects" / "api" / "s-1.jsonl"
    path.parent.mkdir(parents=True)

    def write(*turns: tuple[str, str]) -> None:
        with path.open("a", encoding="utf-8") as file:
            for n, (role, text) in enumerate(turns):
                message = {"role": role, "content": text}
                about = {
                    "type": role,
                    "parentUuid": None,
                    "uuid": f"{path.stat().st_size}-{n}",
                    "sessionId": "s-1",
                    "cwd": str(context.cwd),
                }
                file.write(json.dumps({**about, "timestamp": "2026-05-28T10:00:00.000Z", "message": message}) + "\n")

    write(("user", "rename the parser"), ("assistant", "Done."))
    ask(START)
    ask(HookRequest("claude-code", "stop", "s-1", transcript=str(path)))
    short = replace(PROMPT, prompt="and the pod?", transcript=str(path))
    assert ask(short).inject == ""
    write(
        ("user", "The staging deploy fails again."),
        ("assistant", "EADDRINUSE on port 8443: has the old pod not let go?"),
    )
    assert DEPLOY in ask(short).inject


# --- what is in view already -------------------------------------------------------------------------------


def test_what_the_session_said_itself_is_not_handed_back(context: Context, ask: Ask, clock: Clock) -> None:
    ask(START)
    clock.go_on()
    took_place(context, [row(1, "user", "Why?"), row(2, "assistant", DEPLOY)], at=clock.now)
    call = replace(PROMPT, prompt=CALLS_FOR_IT)
    assert ask(call).inject == ""
    assert DEPLOY in ask(replace(call, session="s-2")).inject


def test_what_the_agent_has_just_said_is_not_said_again(context: Context, ask: Ask, clock: Clock) -> None:
    note(context, DEPLOY)
    ask(START)
    clock.go_on()
    words = (
        "EADDRINUSE on port 8443: the old pod has not let go of it. Wait ten seconds and run the staging deploy again."
    )
    took_place(context, [row(1, "user", "Why?"), row(2, "assistant", words)], at=clock.now)
    call = replace(PROMPT, prompt=CALLS_FOR_IT)
    assert ask(call).inject == ""
    clock.go_on()
    ask(replace(START, beginning="compact"))  # the agent has lost what it said
    clock.go_on()
    assert DEPLOY in ask(call).inject


def test_what_the_agent_has_just_cited_is_not_said_again(context: Context, ask: Ask, clock: Clock) -> None:
    drawer = note(context, DEPLOY)
    took_place(context, [row(1, "user", "Why?"), row(2, "assistant", f"See {drawer}.")], at=clock.now)
    assert ask(replace(PROMPT, prompt=CALLS_FOR_IT)).inject == ""
    assert ask(replace(PROMPT, prompt="what did we decide about EADDRINUSE on port 8443?")).inject == ""


def test_a_prompt_is_not_told_its_own_words(context: Context, ask: Ask) -> None:
    note(context, CALLS_FOR_IT)
    assert ask(replace(PROMPT, prompt=f"{CALLS_FOR_IT} Look at the pods.")).inject == ""


# --- files and errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("prompt", ["clean up src/cart.py", "clean it up"])
def test_what_is_noted_about_a_file_is_told_when_it_is_named_or_in_play(
    context: Context, ask: Ask, prompt: str
) -> None:
    remember(context, RememberRequest("Cart totals are rounded half up.", anchors=("src/cart.py",)))
    remind(context, RemindRequest("Mind the order.", file="src/cart.py"))
    took_place(context, [row(1, "user", "Look."), called(2, "Read", "Read\nfile_path: src/cart.py", "c1")])
    told = ask(replace(PROMPT, prompt=prompt, session="s-1" if "it" in prompt.split() else "s-2")).inject
    assert "Cart totals are rounded half up." in told
    assert "Mind the order." in told
    assert ask(replace(PROMPT, prompt="clean up src/mail.py", session="s-3")).inject == ""


def test_a_long_note_about_a_file_is_cut_and_says_so(context: Context, ask: Ask) -> None:
    remember(context, RememberRequest("Cart totals are rounded half up. " * 60, anchors=("src/cart.py",)))
    told = ask(replace(PROMPT, prompt="clean up src/cart.py")).inject
    assert "(truncated; `read` " in told
    assert len(told) < 2_000


def test_an_error_that_is_pasted_brings_what_mended_it(context: Context, ask: Ask) -> None:
    took_place(context, SESSION, "s-0")
    context.writing().follow_failures()
    pasted = replace(PROMPT, prompt=f"I get this:\n\n{ERROR.replace('9.995', '4.5')}\n")
    told = ask(pasted)
    assert "edited src/cart.py" in told.inject
    (kept,) = injections(context)
    assert len(kept.parts) == 1
    assert ask(pasted).inject == ""
    asked = replace(pasted, session="s-2", prompt=f"how did we fix this last time?\n{ERROR}")
    assert "edited src/cart.py" in ask(asked).inject


def test_a_failure_that_nothing_has_mended_is_in_view(context: Context, ask: Ask) -> None:
    took_place(context, SESSION, "s-0")
    context.writing().follow_failures()
    failing = ran(1, TESTS, f"Exit code 1\n{ERROR}", failed=True)
    took_place(context, failing)
    assert "edited src/cart.py" in ask(replace(PROMPT, prompt="fix it")).inject
    took_place(context, [*failing, *ran(2, TESTS, "1 passed")], "s-2")
    assert ask(replace(PROMPT, prompt="fix it", session="s-2")).inject == ""


# --- what was left open, and facts -------------------------------------------------------------------------


def test_what_a_session_left_open_is_told_where_the_words_are_about_it(context: Context, ask: Ask) -> None:
    took_place(context, test_digests.ROWS, "s-0")
    context.writing().follow_digests()
    told = ask(replace(PROMPT, prompt="their GLS samples: is the login there now?")).inject
    assert "left open: GLS is missing: their samples need a login." in told
    assert "left open" not in ask(replace(PROMPT, prompt="rename the label printer of the other carrier")).inject


def test_a_fact_is_told_for_a_name_that_tells_or_for_two_of_its_parts(context: Context, ask: Ask) -> None:
    kg_add(context, KgAddRequest("build", "runs on", "Hetzner"))

    def told(prompt: str) -> bool:
        return "build runs on Hetzner" in ask(replace(PROMPT, prompt=prompt, session=prompt)).inject

    assert not told("why is the build red")
    assert told("is Hetzner down?")
    assert told("what does the build run on?")


# --- what is pointed at ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "is_told"),
    [
        ("Why did we choose that?", True),
        ("and what did we decide about it?", True),
        ("who decided that?", True),
        ("Did we already try that?", True),
        ("How do we do this?", False),
        ("ok, do that", False),
        ("what was that?", False),
        ("that is how we did it, thanks", False),
    ],
)
def test_who_asks_about_that_is_answered_about_the_turn_before(
    context: Context, ask: Ask, prompt: str, is_told: bool
) -> None:
    decision = "The renderer keeps four PDFs at a time in memory: a fifth ended the pod, which has two gigabytes."
    note(context, decision)
    for n in range(4):
        note(context, f"Machine {n} is checked for its health before the next one is updated.")
    said = [
        row(1, "user", "Look at the renderer of PDFs: how many of them at a time?"),
        row(2, "assistant", "Four PDFs, as its deployment says."),
    ]
    took_place(context, said)
    answer = ask(replace(PROMPT, prompt=prompt))
    assert ((decision in answer.inject) and answer.reason.endswith("the past")) is is_told
    assert ask(replace(PROMPT, prompt=prompt, session="another")).inject == ""


# --- floors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "prompt"),
    [("PROACTIVE_FLOOR", CALLS_FOR_IT), ("ASK_FLOOR", "what did we decide about EADDRINUSE on port 8443?")],
)
def test_floors_are_settings(context: Context, setting: str, prompt: str, clock: Clock) -> None:
    note(context, DEPLOY)
    assert context.palace_path.exists()
    for least, is_told in (("1", True), ("100", False)):
        variables = {**context.variables, f"PALAZZO_{setting}": least}
        with Context(context.palace_path, context.cwd, variables, clock=clock) as other:
            answer = hook(other, replace(PROMPT, prompt=prompt, session=f"{setting}{least}"))
            assert (DEPLOY in answer.inject) is is_told
