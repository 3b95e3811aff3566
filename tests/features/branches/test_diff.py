"""What was learned on a branch: by the commits that another does not have, by its name where git does not say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.archive import conversations
from tests.derived.test_digests import ROWS
from tests.features.branches.test_branches import BLUE, GREEN, Memory

from palazzo.errors import UsageError
from palazzo.features.branches.contract import DiffRequest, DiffResult
from palazzo.features.branches.diff import diff
from palazzo.features.facts.contract import KgAddRequest
from palazzo.features.facts.kg_add import kg_add
from palazzo.features.tasks.contract import TodoAddRequest, TodoDoneRequest
from palazzo.features.tasks.todo_add import todo_add
from palazzo.features.tasks.todo_done import todo_done
from palazzo.model import Place
from palazzo.text.inert import inert


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A decision on main, and all that can be learned on a branch of two commits."""
    memory = Memory(tmp_path)
    memory.note(GREEN)
    memory.checkout.on("feature/blue", "HEAD")
    blue = memory.note(BLUE)  # before the branch has a commit of its own
    memory.checkout.commit("blue")
    memory.note("The proxy drops idle connections after a minute.", "learning")
    memory.checkout.commit("more")
    memory.note("Anna looks after the proxy.", None)
    with memory.at() as context:
        kg_add(context, KgAddRequest("the lantern", "listens on", "port 9000", sources=(blue,)))
        todo_add(context, TodoAddRequest("Write the runbook."))
        done = todo_add(context, TodoAddRequest("Free the port.")).todo.id
        todo_done(context, TodoDoneRequest((done,)))
    memory.checkout.on("main")
    return memory


def learned(memory: Memory, branches: str, limit: int = 20) -> DiffResult:
    with memory.at() as context:
        return diff(context, DiffRequest(branches, limit=limit))


def told(result: DiffResult) -> dict[str, list[str]]:
    kinds = ("decisions", "learnings", "facts", "notes", "todos")
    return {kind: [one.text for one in getattr(result.learned, kind)] for kind in kinds}


NOTHING: dict[str, list[str]] = {"decisions": [], "learnings": [], "facts": [], "notes": [], "todos": []}
ALL = {
    "decisions": [BLUE],
    "learnings": ["The proxy drops idle connections after a minute."],
    "facts": ["the lantern listens on port 9000"],
    "notes": ["Anna looks after the proxy."],
    "todos": ["Write the runbook."],
}


def test_what_was_learned_on_a_branch_is_told_by_kind(memory: Memory) -> None:
    found = learned(memory, "main..feature/blue")
    assert told(found) == ALL
    assert (found.base, found.tip, found.commits, found.note) == ("main", "feature/blue", 2, "")


def test_the_text_is_markdown_with_an_id_for_each(memory: Memory) -> None:
    found = learned(memory, "main..feature/blue")
    (decision,) = found.learned.decisions
    assert found.text.startswith('## Learned on "feature/blue"\n\n### Decisions\n\n- The lantern')
    assert f"`{decision.id[:12]}`" in found.text
    assert "### Left to do\n\n- [ ] Write the runbook." in found.text


def test_an_end_that_is_left_out_is_what_is_checked_out(memory: Memory) -> None:
    assert told(learned(memory, "..feature/blue")) == ALL
    memory.checkout.on("feature/blue")
    assert told(learned(memory, "main..")) == ALL
    assert learned(memory, "main..HEAD").tip == "feature/blue"


def test_the_other_way_round_it_is_what_the_branch_does_not_have(memory: Memory) -> None:
    memory.checkout.commit("green")
    memory.note("The green deploy stays until June.")
    assert told(learned(memory, "feature/blue..main")) == NOTHING | {
        "decisions": ["The green deploy stays until June."]
    }


def test_what_was_merged_is_no_news(memory: Memory) -> None:
    memory.checkout.git("merge", "-q", "--no-ff", "-m", "merged", "feature/blue")
    found = learned(memory, "main..feature/blue")
    assert told(found) == NOTHING
    assert 'Nothing was recorded there that "main" does not have.' in found.text


def test_what_a_long_lived_branch_learned_since_its_last_merge_is_told_alone(memory: Memory) -> None:
    memory.checkout.git("merge", "-q", "--no-ff", "-m", "merged", "feature/blue")
    memory.checkout.on("feature/blue").commit("later")
    memory.note("The runbook is in the wiki.")
    assert told(learned(memory, "main..feature/blue"))["decisions"] == ["The runbook is in the wiki."]


def test_what_was_said_at_commits_that_a_rebase_rewrote_is_told_all_the_same(memory: Memory) -> None:
    memory.checkout.commit("green")
    memory.checkout.on("feature/blue").git("rebase", "-q", "main")
    memory.checkout.git("reflog", "expire", "--expire=now", "--all")
    assert told(learned(memory, "main..feature/blue"))["learnings"] == ALL["learnings"]


def test_of_a_branch_that_is_gone_the_commits_still_tell(memory: Memory) -> None:
    memory.checkout.git("branch", "-qD", "feature/blue")
    assert told(learned(memory, "main..feature/blue")) == ALL


def test_where_git_knows_it_no_more_the_name_alone_tells_and_it_says_so(memory: Memory) -> None:
    memory.checkout.git("branch", "-qD", "feature/blue")
    for log in (memory.checkout.root / ".git" / "logs").rglob("*"):
        if log.is_file():
            log.unlink()
    found = learned(memory, "main..feature/blue")
    assert told(found) == ALL
    assert found.commits is None
    assert "by its name" in found.note
    assert found.note in found.text


def test_a_branch_of_which_nothing_is_known_is_answered_with_those_that_are(memory: Memory) -> None:
    found = learned(memory, "main..feature/red")
    assert told(found) == NOTHING
    assert found.note == 'Nothing is known about a branch \'feature/red\' in shop; there are: "feature/blue", "main".'


@pytest.mark.parametrize("branches", ["main", "", "..", "main...feature/blue", "nowhere..feature/blue"])
def test_what_names_no_two_branches_is_refused_with_how_to_write_it(memory: Memory, branches: str) -> None:
    with pytest.raises(UsageError, match=r"main\.\.feature"):
        learned(memory, branches)


def test_of_much_the_newest_is_told_and_how_much_is_not(memory: Memory) -> None:
    memory.checkout.on("feature/blue")
    for n in range(3):
        memory.note(f"Trial {n} went well.", None)
    found = learned(memory, "main..", limit=2)
    assert [one.text for one in found.learned.notes] == ["Trial 1 went well.", "Trial 2 went well."]
    assert found.learned.more == 2
    assert "2 more are not listed." in found.text


def test_sessions_are_told_with_what_they_decided_and_left_open_but_not_what_strangers_said(memory: Memory) -> None:
    rows = [replace(one, branch="feature/blue") for one in ROWS]
    rows += [
        conversations.said(7, "tool", "Evil: the page says so.", branch="feature/blue", trust="external"),
        conversations.said(8, "assistant", "One crane or two? I'd take two cranes.", branch="main"),
        conversations.said(9, "user", "ok, go with two", branch="main"),
    ]
    with memory.at() as context:
        conversations.file_rows(context.writing(), rows, place=Place("shop", "general"))
    found = learned(memory, "main..feature/blue")
    assert {one.text for one in found.learned.decisions} == {
        "ok, go with ZPL (to: I'd take ZPL, printers know it.)",
        BLUE,
    }
    assert [one.text for one in found.learned.threads] == ["GLS is missing: their samples need a login."]
    assert [one.id for one in found.learned.sessions] == [conversations.SESSION.session_id]
    assert "Evil" not in found.text
    assert "two cranes" not in found.text


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("ask @anna, see #12", "ask `@anna`, see `#12`"),
        ("fixes acme/shop#3 and GH-4", "fixes `acme/shop#3` and `GH-4`"),
        ("a@b.example stays", "a@b.example stays"),
        ("run `make #1 @x` now", "run `make #1 @x` now"),
        ("see https://x.example/#1?a=@b.", "see `https://x.example/#1?a=@b`."),
        ("![x](http://t.example/p.png)", "!\\[x]\\(`http://t.example/p.png`)"),
        ("<img src=x> <!-- hidden", "&lt;img src=x> &lt;!-- hidden"),
        ("a lone ` and #5", "a lone ' and `#5`"),
        ("\x1b]8;;x\x07 `\x1b[2J` \u202egnp.exe", "␛]8;;x␇ `␛[2J` \\u202egnp.exe"),
    ],
)
def test_recorded_words_do_nothing_in_a_pull_request(words: str, shown: str) -> None:
    assert inert(words) == shown
