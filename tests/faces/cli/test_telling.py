"""proactive-context: what is told of unasked, and what is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.faces.cli.command import Command

from palazzo.features.notes import remember
from palazzo.features.notes.contract import RememberRequest
from palazzo.features.wakeup import proactive_context
from palazzo.features.wakeup.contract import ProactiveContextRequest
from palazzo.injection.named_facts import names_in
from palazzo.operations.context import Context
from palazzo.settings.setting_keys import BY_NAME

DEPLOY = (
    "The staging deploy fails with EADDRINUSE on port 8443 when the old pod has not let go of it: wait ten seconds"
    " and run the deploy again."
)
CALLS_FOR_IT = "The staging deploy fails again with EADDRINUSE on port 8443: has the old pod not let go of it?"
PROACTIVE_FLOOR = int(str(BY_NAME["proactive_floor"].default)) / 100
ORDINARY = (
    "please rename this variable",
    "Add a unit test for the parser, and run it.",
    "go on",
    "What does this function return when the list is empty?",
)


def others(palazzo: Command) -> None:
    for n in range(4):
        palazzo.json("remember", f"Machine {n} is checked for its health before the next one is updated.")


def tell(palazzo: Command, words: str, *options: str) -> dict[str, Any]:
    told: dict[str, Any] = palazzo.json("proactive-context", words, *options)
    return told


def texts(told: dict[str, Any], kind: str = "memories") -> list[str]:
    return [one["text"] for one in told[kind]]


# --- memories ----------------------------------------------------------------------------------------------


def test_a_memory_that_is_called_for_is_told(palazzo: Command, home: Path) -> None:
    others(palazzo)
    palazzo.json("remember", DEPLOY, "--kind", "learning", "--tag", "deploy")
    told = tell(palazzo, CALLS_FOR_IT)
    (memory,) = told["memories"]
    assert (memory["text"], memory["truncated"], memory["filed_as"], memory["tags"]) == (
        DEPLOY,
        False,
        "learning",
        ["deploy"],
    )
    assert (memory["trust"], memory["wing"]) == ("user", "shop")
    assert memory["score"] >= told["floor"] == PROACTIVE_FLOOR
    assert (told["index"], told["wings"]) == ("keyword-only", ["shop"])


def test_an_ordinary_prompt_is_told_nothing(palazzo: Command, home: Path) -> None:
    others(palazzo)
    palazzo.json("remember", DEPLOY)
    palazzo.json("todo", "add", "Write down how the prices are rounded")
    palazzo.json("kg", "add", "Mira", "owns", "billing")
    for prompt in ORDINARY:
        told = tell(palazzo, prompt)
        kinds = ("memories", "reminders", "todos", "facts")
        assert [told[kind] for kind in kinds] == [[], [], [], []], prompt
        assert told["tokens"] == 0
    assert "Nothing relevant found" in palazzo("proactive-context", ORDINARY[0]).out


def test_the_floor_can_be_raised_and_not_lowered(palazzo: Command, home: Path) -> None:
    others(palazzo)
    palazzo.json("remember", DEPLOY)
    assert tell(palazzo, CALLS_FOR_IT, "--floor", "1")["memories"] == []
    assert tell(palazzo, CALLS_FOR_IT, "--floor", "0")["floor"] == PROACTIVE_FLOOR


def test_only_the_wings_of_the_project_the_agent_and_the_user_are_looked_at(palazzo: Command, home: Path) -> None:
    others(palazzo)
    palazzo.json("remember", DEPLOY, "--wing", "api")
    assert tell(palazzo, CALLS_FOR_IT)["memories"] == []
    assert len(tell(palazzo, CALLS_FOR_IT, "--wing", "api")["memories"]) == 1
    palazzo.json("diary", "write", "Codex", DEPLOY)
    told = tell(palazzo, CALLS_FOR_IT, "--agent", "codex")
    assert (texts(told), told["wings"]) == ([DEPLOY], ["shop", "wing_codex"])
    palazzo.json("remember", DEPLOY, "--wing", "user")
    told = tell(palazzo, CALLS_FOR_IT, "--agent", "codex")
    assert (len(told["memories"]), told["wings"]) == (1, ["shop", "wing_codex", "user"])  # said once, told once


def test_what_is_not_trusted_is_not_told(palazzo: Command, home: Path) -> None:
    others(palazzo)
    with Context(trust="external") as context:
        remember.remember(context, RememberRequest(DEPLOY))
    assert palazzo.json("search", CALLS_FOR_IT)["hits"][0]["trust"] == "external"
    assert tell(palazzo, CALLS_FOR_IT)["memories"] == []
    with Context(trust="agent") as context:
        remember.remember(context, RememberRequest(DEPLOY))
    assert [one["trust"] for one in tell(palazzo, CALLS_FOR_IT)["memories"]] == ["agent"]
    palazzo.json("settings", "set", "auto_inject_trust", "user")
    assert tell(palazzo, CALLS_FOR_IT)["memories"] == []


def test_only_notes_of_a_kind_are_told_when_asked_for(palazzo: Command, home: Path) -> None:
    others(palazzo)
    palazzo.json("remember", DEPLOY, "--kind", "learning")
    assert tell(palazzo, CALLS_FOR_IT, "--filed-as", "decision")["memories"] == []
    assert texts(tell(palazzo, CALLS_FOR_IT, "--filed-as", "learning")) == [DEPLOY]


def test_what_was_forgotten_is_told_no_more(palazzo: Command, home: Path) -> None:
    others(palazzo)
    note = palazzo.json("remember", DEPLOY)["id"]
    palazzo.json("forget", note, "--yes")
    assert tell(palazzo, CALLS_FOR_IT)["memories"] == []


def test_a_long_memory_is_cut_to_the_budget_and_says_so(palazzo: Command, home: Path) -> None:
    others(palazzo)
    words = "\n".join([DEPLOY] * 40)
    palazzo.json("remember", words)
    told = tell(palazzo, CALLS_FOR_IT, "--budget", "200")
    (memory,) = told["memories"]
    assert memory["truncated"]
    assert words.startswith(memory["text"])
    assert told["tokens"] <= 200
    assert tell(palazzo, CALLS_FOR_IT, "--budget", "30")["memories"] == []


# --- reminders, to-dos, facts ------------------------------------------------------------------------------


def test_reminders_that_are_due_by_time_topic_or_file_are_told(palazzo: Command, home: Path) -> None:
    (home / "shop" / "lock.py").touch()
    palazzo.json("remind", "Mind the order", "--on-file", "lock.py")
    palazzo.json("remind", "The prices changed", "--on-topic", "invoice prices")
    palazzo.json("remind", "Elsewhere", "--on-topic", "invoice prices", "--wing", "api")
    palazzo.json("remind", "Not yet", "--at", "2096-01-01")
    assert texts(tell(palazzo, "go on"), "reminders") == []
    assert texts(tell(palazzo, "Which price is on the invoice?"), "reminders") == ["The prices changed"]
    assert texts(tell(palazzo, "go on", "--file", "lock.py"), "reminders") == ["Mind the order"]


def test_to_dos_are_told_that_are_overdue_or_about_the_same_thing(palazzo: Command, home: Path) -> None:
    palazzo.json("todo", "add", "Add jitter to the retries")
    palazzo.json("todo", "add", "Renew the certificate", "--due", "yesterday")
    palazzo.json("todo", "add", "Retries need jitter there", "--wing", "api")
    done = palazzo.json("todo", "add", "Give the retries some jitter")["todo"]["id"]
    palazzo.json("todo", "done", done)
    assert texts(tell(palazzo, "go on"), "todos") == ["Renew the certificate"]
    about = tell(palazzo, "Why does the retrying client have no jitter?")
    assert texts(about, "todos") == ["Renew the certificate", "Add jitter to the retries"]


def test_facts_about_what_is_named_are_told(palazzo: Command, home: Path) -> None:
    palazzo.json("kg", "add", "Auth-Service", "runs on", "port 8443")
    palazzo.json("kg", "add", "auth-service", "written in", "Go", "--from", "2020-01-01", "--to", "2021-01-01")
    palazzo.json("kg", "add", "auth-service", "owned by", "Mira", "--wing", "api")
    assert tell(palazzo, "go on")["facts"] == []
    (fact,) = tell(palazzo, "Where does the auth_service listen?")["facts"]
    assert (fact["predicate"], fact["object"], fact["current"]) == ("runs on", "port 8443", True)
    told = tell(palazzo, "Is `port 8443` open?")["facts"]
    assert [one["subject"] for one in told] == ["Auth-Service"]


def test_what_is_short_is_told_whole_or_not_at_all(palazzo: Command, home: Path) -> None:
    for n in range(9):
        palazzo.json("todo", "add", f"To-do number {n}", "--due", "yesterday")
    palazzo.json("todo", "add", "long " * 300, "--due", "2020-01-01")
    told = tell(palazzo, "go on")
    assert len(told["todos"]) == 5
    assert all(text.startswith("To-do") for text in texts(told, "todos"))
    assert tell(palazzo, "go on", "--budget", "60")["tokens"] <= 30
    assert len(tell(palazzo, "go on", "--limit", "2")["todos"]) == 2


def test_names_are_found_in_whatever_they_stand_in() -> None:
    names = names_in('Is "Auth_Service" of api.example.com (the payment gateway) up?')
    assert {"auth service", "api.example.com", "payment gateway"} <= names
    assert "the" not in names
    assert names_in("") == frozenset()


def test_what_cannot_be_told_is_refused(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", DEPLOY)
    for arguments in (
        ("  ",),
        ("x", "--floor", "2"),
        ("x", "--limit", "0"),
        ("x", "--budget", "0"),
        ("x", "--wing", "apo"),
    ):
        assert palazzo("proactive-context", *arguments).code == 2, arguments


def test_where_nothing_is_known_nothing_is_told(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", DEPLOY, "--wing", "api")
    with Context() as context:
        told = proactive_context.proactive_context(context, ProactiveContextRequest(CALLS_FOR_IT))
    assert (told.wings, told.memories, told.tokens) == ((), (), 0)


def test_a_single_word_calls_for_nothing_though_a_drawer_has_it(palazzo: Command, home: Path) -> None:
    others(palazzo)
    palazzo.json("remember", DEPLOY)
    for prompt in ("go", "go on then", "deploy", "again?"):
        told = tell(palazzo, prompt)
        assert (told["memories"], told["index"]) == ([], None), prompt


def test_a_wall_of_text_is_read_for_what_it_ends_with(palazzo: Command, home: Path) -> None:
    others(palazzo)
    palazzo.json("remember", DEPLOY)
    palazzo.json("kg", "add", "Auth-Service", "runs on", "port 9000")
    log = "a log line of no use\n" * 5000
    told = tell(palazzo, f"{log}Where does the auth-service listen?")
    assert len(told["facts"]) == 1
