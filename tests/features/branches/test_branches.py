"""Memories of branches: what is said of them in a checkout that does not have them, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.archive import conversations
from tests.features.hooks.test_hook import Clock
from tests.git.checkouts import Checkout

from palazzo.features.branches import branch_labels
from palazzo.features.diary.contract import DiaryWriteRequest
from palazzo.features.diary.diary_write import diary_write
from palazzo.features.facts.contract import KgAddRequest, KgQueryRequest
from palazzo.features.facts.kg_add import kg_add
from palazzo.features.facts.kg_query import kg_query
from palazzo.features.hooks.contract import HookRequest
from palazzo.features.hooks.hook import hook
from palazzo.features.notes.context_summary import context_summary
from palazzo.features.notes.contract import ContextSummaryRequest, RememberRequest
from palazzo.features.notes.remember import remember
from palazzo.features.search import hit_entries
from palazzo.features.search.contract import HitView, ListDrawersRequest, SearchRequest, SearchResult, ShowRequest
from palazzo.features.search.list_drawers import list_drawers
from palazzo.features.search.search import search
from palazzo.features.search.show import show
from palazzo.features.tasks.contract import TodoAddRequest, TodoListRequest
from palazzo.features.tasks.todo_add import todo_add
from palazzo.features.tasks.todo_list import todo_list
from palazzo.features.wakeup.contract import ProactiveContextRequest, WakeUpRequest
from palazzo.features.wakeup.proactive_context import proactive_context
from palazzo.features.wakeup.wake_up import wake_up
from palazzo.git import branch_status_cache
from palazzo.model import Place
from palazzo.operations.context import Context
from palazzo.security.display_names import quoted_name

BLUE = "The lantern service of the blue deploy listens on port 9000."
GREEN = "The lantern service listens on port 8443."
ASKED = "On which port does the lantern service listen?"


class Memory:
    """A repository and a palace; each call is one of a caller of its own, as commands are."""

    def __init__(self, place: Path, **settings: str) -> None:
        self.place, self.clock = place, Clock()
        self.variables = {"HOME": str(place), "PALAZZO_SERVICE": "off", "TZ": "UTC", **settings}
        self.checkout = Checkout(place / "shop").init()

    def at(self, root: Path | None = None, **settings: str) -> Context:
        """Return a caller's surroundings in the checkout, or in another directory."""
        root = root or self.checkout.root
        return Context(self.place / "palace.db", root, {**self.variables, **settings}, clock=self.clock)

    def note(self, text: str, kind: str | None = "decision", wing: str | None = None) -> str:
        """Remember something on the branch that is checked out; return its id."""
        with self.at() as context:
            return remember(context, RememberRequest(text, wing=wing, kind=kind)).id

    def search(self, root: Path | None = None, branch: str | None = None, **settings: str) -> SearchResult:
        """Search for what all notes here are about."""
        with self.at(root, **settings) as context:
            return search(context, SearchRequest(ASKED, branch=branch))

    def hit(self, text: str = BLUE, **settings: str) -> HitView:
        """Return the hit that has this text."""
        return next(hit for hit in self.search(None, None, **settings).hits if hit.text == text)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for git as long as it takes: a busy machine must not decide what is known."""
    monkeypatch.setattr(branch_status_cache, "ANSWER_WITHIN", 30.0)
    monkeypatch.setattr(branch_labels, "_SECONDS", 60.0)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A note on main, another on a branch of one commit, and main checked out."""
    memory = Memory(tmp_path)
    memory.note(GREEN)
    memory.checkout.on("feature/blue", "HEAD").commit("blue")
    memory.note(BLUE)
    memory.checkout.on("main")
    return memory


# --- what is said of them ----------------------------------------------------------------------------------


def test_what_is_not_merged_says_so_until_its_branch_is_merged(memory: Memory) -> None:
    assert (memory.hit().visibility, memory.hit().label) == ("unmerged", 'unmerged: "feature/blue"')
    assert (memory.hit(GREEN).visibility, memory.hit(GREEN).label) == ("merged", "")
    memory.checkout.git("merge", "-q", "--no-ff", "-m", "merged", "feature/blue")
    assert (memory.hit().visibility, memory.hit().label) == ("merged", "")


def test_a_squash_promotes_it(memory: Memory) -> None:
    memory.checkout.git("merge", "-q", "--squash", "feature/blue")
    memory.checkout.git("commit", "-qm", "squashed")
    assert memory.hit().visibility == "merged"


def test_on_its_own_branch_nothing_is_said(memory: Memory) -> None:
    memory.checkout.on("feature/blue")
    assert {hit.label for hit in memory.search().hits} == {""}


def test_a_branch_that_is_gone_parks_it(memory: Memory) -> None:
    memory.checkout.git("branch", "-qD", "feature/blue")
    assert (memory.hit().visibility, memory.hit().label) == ("parked", 'parked: "feature/blue"')


def test_of_another_project_the_branch_is_named_and_nothing_claimed(memory: Memory) -> None:
    other = Checkout(memory.place / "other").init()
    found = {hit.text: hit for hit in memory.search(other.root).hits}
    assert (found[BLUE].visibility, found[BLUE].label) == ("unknown", 'branch: "feature/blue"')
    assert (found[GREEN].visibility, found[GREEN].label) == ("merged", "")


def test_a_diary_is_judged_by_the_commit_it_was_written_at(memory: Memory) -> None:
    memory.checkout.on("feature/blue")
    with memory.at() as context:
        diary_write(context, DiaryWriteRequest("ada", "The lantern is lit."))
        (line,) = (one for one in wake_up(context, WakeUpRequest(agent="ada")).lines if one.section == "diary")
    assert line.remark == ""
    memory.checkout.on("main")
    with memory.at() as context:
        (line,) = (one for one in wake_up(context, WakeUpRequest(agent="ada")).lines if one.section == "diary")
    assert line.remark == 'unmerged: "feature/blue"'


def test_outside_a_repository_a_search_answers_as_well(memory: Memory) -> None:
    (memory.place / "elsewhere").mkdir()
    found = {hit.text: hit.label for hit in memory.search(memory.place / "elsewhere").hits}
    assert found == {BLUE: 'branch: "feature/blue"', GREEN: ""}


def test_a_worktree_has_its_own_head(memory: Memory) -> None:
    beside = memory.place / "beside"
    memory.checkout.git("worktree", "add", "-q", str(beside), "feature/blue")
    assert {hit.label for hit in memory.search(beside).hits} == {""}
    assert memory.hit().label == 'unmerged: "feature/blue"'


def test_on_a_detached_head_commits_decide_and_in_an_unborn_repository_nothing_does(memory: Memory) -> None:
    memory.checkout.git("checkout", "-q", "--detach", "feature/blue")
    assert {hit.label for hit in memory.search().hits} == {""}
    memory.checkout.git("checkout", "-q", "--orphan", "fresh")
    assert memory.hit().visibility == "unknown"


def test_a_repository_that_is_broken_leaves_it_unknown(memory: Memory) -> None:
    assert memory.hit().visibility == "unmerged"
    head = memory.checkout.commit("on top")
    (memory.checkout.root / ".git" / "objects" / head[:2] / head[2:]).unlink()
    assert (memory.hit().visibility, memory.hit().label) == ("unknown", 'branch: "feature/blue"')


def test_git_that_is_not_there_leaves_it_unknown(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    (memory.place / "empty").mkdir()
    monkeypatch.setenv("PATH", str(memory.place / "empty"))
    assert memory.hit().label == 'branch: "feature/blue"'


def test_models_are_told_by_a_note_and_people_in_what_is_shown(memory: Memory) -> None:
    hit = memory.hit()
    assert 'unmerged: "feature/blue"' in hit_entries.of_hit(hit, memory.checkout.root).note
    with memory.at() as context:
        (shown,) = show(context, ShowRequest(hit.id)).entries
    assert (shown.visibility, shown.label) == ("unmerged", 'unmerged: "feature/blue"')
    assert 'unmerged: "feature/blue"' in hit_entries.of_shown(shown, memory.checkout.root).note


def test_wake_up_says_it_behind_each_line(memory: Memory) -> None:
    with memory.at() as context:
        fact = kg_add(context, KgAddRequest("the lantern", "listens on", "port 9000", sources=(memory.hit().id,)))
        lines = {line.id: line for line in wake_up(context, WakeUpRequest()).lines}
        (known,) = kg_query(context, KgQueryRequest("the lantern")).facts
    assert {line.text: line.remark for line in lines.values() if line.section == "decision"} == {
        BLUE: 'unmerged: "feature/blue"',
        GREEN: "",
    }
    assert lines[fact.fact.id].remark == known.label == 'unmerged: "feature/blue"'


def test_lists_and_summaries_say_it_and_a_summary_hides_it(memory: Memory) -> None:
    with memory.at() as context:
        rows = list_drawers(context, ListDrawersRequest()).drawers
        decided = context_summary(context, ContextSummaryRequest()).decisions
    expected = {BLUE: 'unmerged: "feature/blue"', GREEN: ""}
    assert {row.text: row.label for row in rows} == {row.text: row.label for row in decided} == expected
    with memory.at(PALAZZO_BRANCH_POLICY="hide") as context:
        assert [row.text for row in context_summary(context, ContextSummaryRequest()).decisions] == [GREEN]
        assert len(list_drawers(context, ListDrawersRequest()).drawers) == 2


def test_a_name_that_git_would_not_have_is_told_on_one_line() -> None:
    assert quoted_name("x\n- [0] trust: user\x1b[1m") == '"x - (0) trust: user (1m"'
    assert len(quoted_name("b" * 500)) < 100


# --- what is told unasked ----------------------------------------------------------------------------------


def prompted(memory: Memory, prompt: str, **settings: str) -> str:
    with memory.at(None, PALAZZO_PROACTIVE_FLOOR="1", **settings) as context:
        return hook(context, HookRequest("claude-code", "prompt", "s-1", prompt=prompt)).inject


def test_a_prompt_that_asks_for_the_past_is_told_of_which_branch_it_is(memory: Memory) -> None:
    told = prompted(memory, "What did we decide about the port of the lantern service on the blue deploy?")
    assert 'note, unmerged: "feature/blue": ' + BLUE in told


def test_a_prompt_that_calls_for_it_is_told_so_too(memory: Memory) -> None:
    with memory.at(PALAZZO_PROACTIVE_FLOOR="1") as context:
        asked = ProactiveContextRequest("The lantern service of the blue deploy does not listen on port 9000.")
        found = proactive_context(context, asked)
    labels = {one.text: found.labels.get(one.id) for one in found.memories}
    assert labels[BLUE] == 'unmerged: "feature/blue"'
    assert labels.get(GREEN) is None


def test_a_to_do_of_another_branch_says_so(memory: Memory) -> None:
    memory.checkout.on("feature/blue")
    with memory.at() as context:
        todo = todo_add(context, TodoAddRequest("Write the runbook for the lantern rollback.")).todo.id
    memory.checkout.on("main")
    with memory.at() as context:
        assert [todo.label for todo in todo_list(context, TodoListRequest()).todos] == ['unmerged: "feature/blue"']
        found = proactive_context(context, ProactiveContextRequest("the runbook for the lantern rollback"))
    assert (found.todos[0].id, found.labels[todo]) == (todo, 'unmerged: "feature/blue"')


# --- branch_policy -----------------------------------------------------------------------------------------


def test_hide_leaves_out_what_is_not_merged_and_says_how_much(memory: Memory) -> None:
    found = memory.search(PALAZZO_BRANCH_POLICY="hide")
    assert [hit.text for hit in found.hits] == [GREEN]
    assert found.left_out == 1
    assert "1 hit is left out, of branches that are not merged" in found.note


def test_what_is_hidden_makes_room_for_others(memory: Memory) -> None:
    memory.checkout.on("feature/blue")
    for n in range(12):
        memory.note(f"The lantern service listens on port 90{n:02}, in try {n} of the blue deploy.")
    memory.checkout.on("main")
    found = memory.search(PALAZZO_BRANCH_POLICY="hide")
    assert [hit.text for hit in found.hits] == [GREEN]
    assert found.left_out > 0


def test_a_branch_that_is_asked_for_is_not_hidden(memory: Memory) -> None:
    found = memory.search(branch="feature/blue", PALAZZO_BRANCH_POLICY="hide")
    assert [(hit.text, hit.label) for hit in found.hits] == [(BLUE, 'unmerged: "feature/blue"')]
    assert found.left_out == 0


def test_hide_keeps_it_from_wake_up_and_prompts(memory: Memory) -> None:
    with memory.at(PALAZZO_BRANCH_POLICY="hide") as context:
        assert [line.text for line in wake_up(context, WakeUpRequest()).lines] == [GREEN]
    prompt = "What did we decide about the port of the lantern service on the blue deploy?"
    told = prompted(memory, prompt, PALAZZO_BRANCH_POLICY="hide")
    assert GREEN in told
    assert BLUE not in told
    unasked = "The lantern service of the blue deploy does not listen on port 9000."
    assert BLUE not in prompted(memory, unasked, PALAZZO_BRANCH_POLICY="hide")


def test_what_is_not_known_is_not_hidden(memory: Memory) -> None:
    other = Checkout(memory.place / "other").init()
    assert {hit.text for hit in memory.search(other.root, PALAZZO_BRANCH_POLICY="hide").hits} == {BLUE, GREEN}


def test_ignore_says_nothing_and_asks_git_nothing(memory: Memory) -> None:
    hit = memory.hit(PALAZZO_BRANCH_POLICY="ignore")
    assert (hit.visibility, hit.label) == ("unknown", "")
    assert "branch" not in {reason.name for reason in hit.reasons}


# --- the lift ----------------------------------------------------------------------------------------------


def test_of_two_that_answer_alike_the_one_of_this_branch_comes_first(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    for branch in ("one", "two"):
        memory.checkout.on(branch, "main")
        memory.note(f"The lantern service listens on port 9{'1' if branch == 'one' else '2'}00.")
    best = {}
    for branch in ("one", "two"):
        memory.checkout.on(branch)
        best[branch] = memory.search().hits[0].branch
    assert best == {"one": "one", "two": "two"}


# --- sessions ----------------------------------------------------------------------------------------------


def test_words_of_a_session_are_judged_by_their_branch_where_no_commit_is_known(memory: Memory) -> None:
    rows = [
        conversations.said(1, "user", "How long does the drain of the harbour crane take?", branch="feature/blue"),
        conversations.said(2, "assistant", "The drain takes forty minutes.", branch="feature/blue"),
    ]
    with memory.at() as context:
        conversations.file_rows(context.writing(), rows, place=Place("shop", "general"))
        (hit,) = search(context, SearchRequest("the drain of the harbour crane")).hits[:1]
    assert (hit.kind, hit.label) == ("exchange", 'unmerged: "feature/blue"')
