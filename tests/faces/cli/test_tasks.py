"""todo and remind, as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faces.cli.command import Command


def texts(views: list[dict[str, str]]) -> list[str]:
    return [view["text"] for view in views]


def add(palazzo: Command, text: str, *options: str) -> str:
    added: str = palazzo.json("todo", "add", text, *options)["todo"]["id"]
    return added


def remind(palazzo: Command, text: str, *options: str) -> dict[str, str]:
    reminder: dict[str, str] = palazzo.json("remind", text, *options)["reminder"]
    return reminder


# --- to-dos ------------------------------------------------------------------------------------------------


def test_to_dos_are_listed_with_what_is_due_first(palazzo: Command, home: Path) -> None:
    add(palazzo, "some day")
    add(palazzo, "in March", "--due", "2096-03-04")
    add(palazzo, "overdue", "--due", "yesterday")
    listed = palazzo.json("todo", "list")
    assert texts(listed["todos"]) == ["overdue", "in March", "some day"]
    assert [todo["overdue"] for todo in listed["todos"]] == [True, False, False]
    assert listed["todos"][1]["due_at"] == "2096-03-05T00:00:00Z"  # the day belongs to it
    assert (listed["open"], listed["wing"]) == (3, "shop")


def test_to_dos_are_those_of_the_project_unless_asked_otherwise(palazzo: Command, home: Path) -> None:
    add(palazzo, "here")
    add(palazzo, "there", "--wing", "api")
    assert texts(palazzo.json("todo", "list")["todos"]) == ["here"]
    assert texts(palazzo.json("todo", "list", "--wing", "api")["todos"]) == ["there"]
    assert texts(palazzo.json("todo", "list", "--everywhere")["todos"]) == ["here", "there"]
    assert palazzo("todo", "list", "--wing", "apo").code == 2
    assert palazzo("todo", "list", "--wing", "api", "--everywhere").code == 2


def test_what_is_done_is_listed_no_more_and_undo_opens_it_again(palazzo: Command, home: Path) -> None:
    first, second = add(palazzo, "one"), add(palazzo, "two")
    done = palazzo.json("todo", "done", first, second)
    assert [(todo["id"], todo["state"]) for todo in done["done"]] == [(first, "done"), (second, "done")]
    assert palazzo.json("todo", "list")["todos"] == []
    closed = palazzo.json("todo", "list", "--all")["todos"]
    assert [(todo["state"], bool(todo["closed_at"])) for todo in closed] == [("done", True)] * 2
    palazzo.json("undo")
    assert texts(palazzo.json("todo", "list")["todos"]) == ["one", "two"]
    palazzo.json("undo")
    assert texts(palazzo.json("todo", "list")["todos"]) == ["one"]
    assert palazzo.json("verify")["ok"]


def test_done_twice_says_so_and_is_no_change(palazzo: Command, home: Path) -> None:
    one = add(palazzo, "one")
    palazzo.json("todo", "done", one)
    changes = palazzo.json("undo", "--list")["changes"]
    again = palazzo.json("todo", "done", one)
    assert (again["done"], texts(again["before"])) == ([], ["one"])
    dropped = palazzo.json("todo", "drop", one)
    assert (dropped["dropped"], dropped["before"][0]["state"]) == ([], "done")
    assert palazzo.json("undo", "--list")["changes"] == changes
    assert "already" in palazzo("todo", "done", one).out


def test_a_to_do_is_named_by_a_beginning_or_by_its_drawer(palazzo: Command, home: Path) -> None:
    added = palazzo.json("todo", "add", "one")
    assert palazzo.json("todo", "done", added["drawers"][0][:12])["done"][0]["id"] == added["todo"]["id"]
    ids = [add(palazzo, f"number {n}") for n in range(2)]
    start = next(n for n in range(32, 0, -1) if ids[0][:n] == ids[1][:n])
    ran = palazzo("todo", "done", ids[0][:start])
    assert ran.code == 2
    assert all(one in ran.error for one in ids)
    assert palazzo.json("todo", "done", ids[0])["done"][0]["id"] == ids[0]


@pytest.mark.parametrize("said", ["zzzz", "0000ffff", "jitter the retries", "", "..", "f" * 40])
def test_an_id_that_names_nothing_is_answered_with_what_is_open(palazzo: Command, home: Path, said: str) -> None:
    one, other = add(palazzo, "Add jitter to the retries"), add(palazzo, "Water the plants")
    ran = palazzo("todo", "done", other, said)
    assert (ran.code, ran.error.count("\n")) == (2, 1)
    assert one in ran.error
    assert len(palazzo.json("todo", "list")["todos"]) == 2, "all or none"


def test_a_reminder_is_no_to_do(palazzo: Command, home: Path) -> None:
    one = remind(palazzo, "one", "--at", "in 1 hour")["id"]
    assert palazzo("todo", "done", one).code == 2


@pytest.mark.parametrize("text", ["", " \n", "x" * 10_001])
def test_what_is_no_to_do_is_one_sentence(palazzo: Command, home: Path, text: str) -> None:
    for arguments in (("todo", "add", text), ("remind", text, "--at", "tomorrow")):
        ran = palazzo(*arguments)
        assert (ran.code, ran.error.count("\n")) == (2, 1)


def test_search_finds_them_and_says_how_they_stand(palazzo: Command, shop: Path) -> None:
    one = add(palazzo, "Let retries double less often")
    remind(palazzo, "Retries double on Sundays", "--on-topic", "sunday")
    (hit,) = palazzo.json("search", "retries double", "--kind", "todo")["hits"]
    assert (hit["kind"], hit["state"], hit["text"]) == ("todo", "open", "Let retries double less often")
    (hit,) = palazzo.json("search", "retries double", "--kind", "reminder")["hits"]
    assert hit["state"] == "open"
    palazzo.json("todo", "done", one)
    hits = {hit["kind"]: hit["state"] for hit in palazzo.json("search", "retries double")["hits"]}
    assert (hits["todo"], hits["section"]) == ("done", "")
    assert "done" in palazzo("search", "retries double", "--kind", "todo").out


def test_the_list_of_a_day_is_read_as_it_was(palazzo: Command, home: Path) -> None:
    one = add(palazzo, "one")
    then = palazzo.json("todo", "list", "--as-of", "now")["as_of"]
    palazzo.json("todo", "done", one)
    assert texts(palazzo.json("todo", "list", "--as-of", then)["todos"]) == ["one"]
    assert palazzo.json("todo", "list")["todos"] == []
    assert palazzo.json("todo", "list", "--as-of", "1h")["todos"] == []
    (hit,) = palazzo.json("search", "one", "--kind", "todo", "--as-of", then)["hits"]
    assert hit["state"] == "open"


def test_status_counts_what_is_open(palazzo: Command, home: Path) -> None:
    one = add(palazzo, "one")
    add(palazzo, "two")
    assert palazzo.json("status")["open_todos"] == 2
    palazzo.json("todo", "done", one)
    assert palazzo.json("status")["open_todos"] == 1
    assert "1 open to-do" in palazzo("status").out


def test_a_forgotten_or_erased_to_do_is_gone(palazzo: Command, home: Path) -> None:
    one, other = add(palazzo, "the heron stands on the pier"), add(palazzo, "two")
    palazzo.json("forget", one, "--yes")
    assert texts(palazzo.json("todo", "list")["todos"]) == ["two"]
    palazzo.json("undo")
    assert len(palazzo.json("todo", "list")["todos"]) == 2
    palazzo.json("erase", one, "--yes")
    assert texts(palazzo.json("todo", "list", "--all")["todos"]) == ["two"]
    assert b"heron" not in b"".join(path.read_bytes() for path in home.rglob("palace.db*"))
    assert palazzo.json("todo", "done", other)["done"]


def test_erasing_a_word_takes_it_from_what_a_reminder_waits_for(palazzo: Command, home: Path) -> None:
    remind(palazzo, "look there", "--on-topic", "heron nests", "--on-file", "heronries/a.md")
    palazzo.json("diary", "write", "codex", "one", "--topic", "heron watch")
    palazzo.json("erase", "--match", r"(?i)heron\w*", "--yes")
    told = palazzo("reminders", "all").out + palazzo("diary", "read", "codex").out
    assert "heron" not in told
    assert b"heron" not in b"".join(path.read_bytes() for path in home.rglob("palace.db*"))
    assert palazzo.json("verify")["ok"]


def test_what_is_open_follows_a_wing_that_is_renamed(palazzo: Command, home: Path) -> None:
    add(palazzo, "one", "--wing", "api")
    remind(palazzo, "two", "--at", "now", "--wing", "api")
    palazzo.json("diary", "write", "codex", "three", "--project", "api")
    palazzo.json("wing", "rename", "api", "services")
    add(palazzo, "four", "--wing", "api")
    for name in ("api", "services"):
        assert texts(palazzo.json("todo", "list", "--wing", name)["todos"]) == ["one", "four"]
        assert texts(palazzo.json("reminders", "--wing", name)["reminders"]) == ["two"]
        (entry,) = palazzo.json("diary", "read", "codex", "--project", name)["entries"]
        assert (entry["content"], entry["project"]) == ("three", "services")
    palazzo.json("undo")  # the to-do
    palazzo.json("undo")  # the name
    assert texts(palazzo.json("todo", "list", "--wing", "api")["todos"]) == ["one"]


def test_the_diary_of_an_agent_follows_its_wing(palazzo: Command, home: Path) -> None:
    palazzo.json("diary", "write", "codex", "one")
    palazzo.json("wing", "rename", "wing_codex", "wing_cody")
    assert palazzo.json("diary", "write", "codex", "two")["wing"] == "wing_cody"
    assert palazzo.json("list-agents")["agents"][0]["wing"] == "wing_cody"
    assert [one["content"] for one in palazzo.json("diary", "read", "codex")["entries"]] == ["two", "one"]


def test_they_are_made_anew_as_they_were(palazzo: Command, home: Path) -> None:
    one = add(palazzo, "one")
    add(palazzo, "two")
    palazzo.json("todo", "done", one)
    remind(palazzo, "three", "--on-file", "a.py")
    palazzo.json("diary", "write", "codex", "four", "--topic", "numbers")
    palazzo.json("repair", "--rebuild", "all")
    assert [todo["state"] for todo in palazzo.json("todo", "list", "--all")["todos"]] == ["open", "done"]
    assert texts(palazzo.json("reminders", "open")["reminders"]) == ["three"]
    assert palazzo.json("search", "four", "--kind", "diary")["hits"][0]["title"] == "numbers"
    assert palazzo.json("verify")["ok"]


# --- reminders ---------------------------------------------------------------------------------------------


def test_a_reminder_comes_at_its_time_and_stays_until_it_is_done(palazzo: Command, home: Path) -> None:
    one = remind(palazzo, "look", "--at", "now")
    remind(palazzo, "later", "--at", "in 2 hours")
    assert one["state"] == "due"
    for _ in range(2):  # not only the first who asks is told
        due = palazzo.json("reminders")
        assert (texts(due["reminders"]), due["waiting"]) == (["look"], 1)
        assert due["reminders"][0]["causes"] == ["time"]
    assert palazzo.json("reminders", "done", one["id"])["reminders"][0]["state"] == "done"
    assert palazzo.json("reminders")["reminders"] == []
    assert [view["state"] for view in palazzo.json("reminders", "all")["reminders"]] == ["waiting", "done"]
    palazzo.json("undo")
    assert texts(palazzo.json("reminders")["reminders"]) == ["look"]


@pytest.mark.parametrize("text", ["yesterday", "2 days ago", "2020-01-01", "last friday"])
def test_a_reminder_in_the_past_is_refused_with_the_moment_that_was_understood(
    palazzo: Command, home: Path, text: str
) -> None:
    ran = palazzo("remind", "too late", "--at", text)
    assert (ran.code, ran.error.count("\n")) == (2, 1)
    assert "has passed" in ran.error
    assert "Z)" in ran.error


def test_the_moment_is_understood_on_the_clock_here(
    palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    at = remind(palazzo, "look", "--at", "tomorrow 9:00")["at"]
    assert at.endswith("T00:00:00Z")
    assert "09:00 JST" in palazzo("remind", "look", "--at", "tomorrow 9:00").out


@pytest.mark.parametrize("options", [(), ("--at", "soon"), ("--on-topic", "  ..  "), ("--on-file", " ")])
def test_a_reminder_needs_an_occasion(palazzo: Command, home: Path, options: tuple[str, ...]) -> None:
    ran = palazzo("remind", "of what", *options)
    assert (ran.code, ran.error.count("\n")) == (2, 1)


def test_a_file_is_known_from_the_projects_root(palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "shop" / "src").mkdir()
    (home / "shop" / "src" / "lock.py").write_text("")
    monkeypatch.chdir(home / "shop" / "src")
    added = palazzo.json("remind", "mind the order", "--on-file", "./lock.py")
    assert (added["reminder"]["file"], added["note"]) == ("src/lock.py", "")
    assert palazzo.json("reminders")["reminders"] == []
    assert texts(palazzo.json("reminders", "--on-file", "lock.py")["reminders"]) == ["mind the order"]
    monkeypatch.chdir(home / "shop")
    for path in ("src/lock.py", str(home / "shop" / "docs" / ".." / "src" / "lock.py")):
        assert palazzo.json("reminders", "--on-file", path)["reminders"][0]["causes"] == ["file"]
    assert palazzo.json("reminders", "--on-file", "lock.py")["reminders"] == []
    (home / "other" / "src").mkdir(parents=True)
    (home / "other" / "palazzo.toml").write_text('wing = "other"\n')
    monkeypatch.chdir(home / "other")  # another project has a file of that name
    assert palazzo.json("reminders", "--on-file", "src/lock.py")["reminders"] == []


def test_a_directory_stands_for_the_files_in_it(palazzo: Command, home: Path) -> None:
    remind(palazzo, "docs are public", "--on-file", "docs/")
    remind(palazzo, "anything here", "--on-file", ".")
    assert len(palazzo.json("reminders", "--on-file", "docs/a/b.md")["reminders"]) == 2
    assert texts(palazzo.json("reminders", "--on-file", "docs2/b.md")["reminders"]) == ["anything here"]
    assert palazzo.json("reminders", "--on-file", str(home / "elsewhere.md"))["reminders"] == []


def test_a_file_that_is_not_there_yet_is_waited_for(palazzo: Command, home: Path) -> None:
    added = palazzo.json("remind", "write the tests first", "--on-file", "src/new.py")
    assert added["reminder"]["file"] == "src/new.py"
    assert "does not exist yet" in added["note"]
    outside = palazzo.json("remind", "not ours", "--on-file", str(home / "far" / "away.py"))
    assert outside["reminder"]["file"] == (home / "far" / "away.py").as_posix()
    found = palazzo.json("reminders", "--on-file", "../far/away.py")["reminders"]
    assert texts(found) == ["not ours"]


@pytest.mark.parametrize(
    ("topic", "words", "is_due"),
    [
        ("invoice prices", "what is the price of an invoice?", True),
        ("invoice prices", "what is the price?", False),
        ("retry", "Retries doubled.", True),
        ("httpClient", "the http client hangs", True),
        ("价格", "发票的价格是多少", True),
        ("cat", "concatenate", False),
    ],
)
def test_a_topic_comes_up_when_all_its_words_do_in_any_form(
    palazzo: Command, home: Path, topic: str, words: str, is_due: bool
) -> None:
    remind(palazzo, "it changed", "--on-topic", topic)
    assert bool(palazzo.json("reminders", "--on-topic", words)["reminders"]) is is_due


def test_of_several_occasions_the_first_counts(palazzo: Command, home: Path) -> None:
    remind(palazzo, "look", "--at", "in 3 days", "--on-topic", "lock", "--on-file", "lock.py")
    assert palazzo.json("reminders")["waiting"] == 1
    found = palazzo.json("reminders", "--on-topic", "locks", "--on-file", "lock.py")["reminders"]
    assert found[0]["causes"] == ["file", "topic"]
    assert palazzo.json("reminders", "--as-of", "in 4 days")["reminders"] == []  # the future is now


def test_reminders_take_ids_to_close_and_none_to_list(palazzo: Command, home: Path) -> None:
    one = remind(palazzo, "look", "--on-topic", "lock")["id"]
    assert palazzo("reminders", "done").code == 2
    assert palazzo("reminders", "all", one).code == 2
    assert palazzo("reminders", "drop", "ffff0000").code == 2
    assert palazzo.json("reminders", "drop", one[:20])["reminders"][0]["state"] == "dropped"
    assert palazzo.json("reminders", "done", one)["before"][0]["state"] == "dropped"
