"""Facts that no item states: what is said of them in a checkout that does not have the branch they were stated on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.archive.test_erasing import erase
from tests.features.branches.test_branches import GREEN, Memory, patient
from tests.features.branches.test_diff import learned
from tests.git.checkouts import Checkout

from palazzo.features.facts.contract import KgQueryRequest, QueriedFact
from palazzo.features.facts.kg_query import kg_query
from palazzo.features.wakeup.contract import ProactiveContextRequest, WakeUpRequest
from palazzo.features.wakeup.proactive_context import proactive_context
from palazzo.features.wakeup.wake_up import wake_up
from palazzo.operations import registry
from palazzo.operations.context import Context
from palazzo.store.fact_rows import Provenance

__all__ = ["patient"]

LANTERN: dict[str, Any] = {"subject": "Lantern Service", "predicate": "listens on", "object": "port 9000"}
PORT = "Lantern Service listens on port 9000"


def run(memory: Memory, name: str, root: Path | None = None, **request: Any) -> Any:
    """Do something as a command does."""
    operation = registry.operation(name)
    with memory.at(root) as context:
        return operation.run(context, operation.request(**request))


def known(memory: Memory, root: Path | None = None, **settings: str) -> dict[str, str]:
    """Return what is said of the branch of each fact about the lantern."""
    return {one.object: one.label for one in asked(memory, root, **settings)}


def asked(memory: Memory, root: Path | None = None, **settings: str) -> tuple[QueriedFact, ...]:
    with memory.at(root, **settings) as context:
        return kg_query(context, KgQueryRequest("Lantern Service", all=True)).facts


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A fact that was stated on a branch of one commit, and main checked out."""
    memory = Memory(tmp_path)
    memory.checkout.on("feature/blue", "HEAD").commit("blue")
    run(memory, "kg_add", **LANTERN)
    memory.checkout.on("main")
    return memory


@pytest.fixture
def filed(memory: Memory) -> Memory:
    """The same, in a palace that has a wing of the project."""
    memory.note(GREEN)
    return memory


# --- what is said of them ----------------------------------------------------------------------------------


def test_a_fact_says_that_it_was_stated_on_another_branch_until_that_is_merged(memory: Memory) -> None:
    (fact,) = asked(memory)
    blue = memory.checkout.git("rev-parse", "feature/blue")
    assert (fact.provenance[0].branch, fact.provenance[0].commit) == ("feature/blue", blue)
    assert fact.label == 'unmerged: "feature/blue"'
    memory.checkout.git("merge", "-q", "--no-ff", "-m", "merged", "feature/blue")
    assert known(memory) == {"port 9000": ""}


def test_on_its_own_branch_nothing_is_said_and_one_that_is_gone_parks_it(memory: Memory) -> None:
    memory.checkout.on("feature/blue")
    assert known(memory) == {"port 9000": ""}
    memory.checkout.on("main").git("branch", "-qD", "feature/blue")
    assert known(memory) == {"port 9000": 'parked: "feature/blue"'}


def test_of_another_project_the_branch_is_named_but_for_a_main_line(memory: Memory) -> None:
    run(memory, "kg_add", **LANTERN | {"object": "port 80"})
    other = Checkout(memory.place / "other").init().on("feature/red", "HEAD")
    assert known(memory, other.root) == {"port 9000": 'branch: "feature/blue"', "port 80": ""}


def test_what_main_learned_since_is_not_on_an_older_branch(memory: Memory) -> None:
    memory.checkout.commit("later")
    run(memory, "kg_add", **LANTERN | {"object": "port 80"})
    memory.checkout.on("feature/blue")
    assert known(memory) == {"port 9000": "", "port 80": 'unmerged: "main"'}


def test_it_is_told_at_the_beginning_and_unasked_or_hidden(filed: Memory) -> None:
    words = "Does the Lantern Service still listen on port 9000?"
    with filed.at() as context:
        lines = wake_up(context, WakeUpRequest()).lines
        found = proactive_context(context, ProactiveContextRequest(words))
    assert [line.remark for line in lines if line.text == PORT] == ['unmerged: "feature/blue"']
    assert [found.labels[fact.id] for fact in found.facts] == ['unmerged: "feature/blue"']
    with filed.at(PALAZZO_BRANCH_POLICY="hide") as context:
        assert PORT not in {line.text for line in wake_up(context, WakeUpRequest()).lines}
        assert proactive_context(context, ProactiveContextRequest(words)).facts == ()


# --- who states them ---------------------------------------------------------------------------------------


def test_a_fact_is_merged_as_soon_as_somebody_states_it_here(memory: Memory) -> None:
    memory.checkout.on("feature/blue").commit("later")
    before = run(memory, "kg_add", **LANTERN)
    assert (before.new, before.changed) == (False, ())
    memory.checkout.on("main")
    again = run(memory, "kg_add", **LANTERN)
    assert (again.id, again.new, again.changed) == (before.id, False, ("provenance",))
    assert [one.branch for one in again.fact.provenance] == ["feature/blue", "main"]
    assert known(memory) == {"port 9000": ""}
    run(memory, "undo")
    assert known(memory) == {"port 9000": 'unmerged: "feature/blue"'}


def test_what_is_stated_under_words_from_outside_merges_nothing(memory: Memory) -> None:
    run(memory, "kg_add", **LANTERN)
    with memory.at() as context, context.writing().database.transaction() as connection:
        connection.execute("UPDATE fact_source SET trust = 'external' WHERE branch = 'main'")
    assert known(memory) == {"port 9000": 'unmerged: "feature/blue"'}


def test_stating_again_says_more_from_another_branch_or_with_more_to_be_believed_by() -> None:
    stated = Provenance("user", branch="main", commit="1")
    assert stated.says(stated._replace(commit="2"))
    assert not stated._replace(trust="external").says(stated)
    assert not stated._replace(commit="").says(stated)
    assert not stated.says(stated._replace(branch="feature"))
    assert Provenance("user").says(stated)


def test_a_fact_of_an_item_is_judged_by_that_and_by_where_it_cites_files(memory: Memory) -> None:
    memory.checkout.on("feature/blue")
    blue = memory.note("The lantern is blue.")
    run(memory, "kg_add", **LANTERN | {"object": "port 1"}, sources=(blue,))
    memory.checkout.on("main")
    run(memory, "kg_add", **LANTERN | {"object": "port 2"}, sources=(blue,))
    run(memory, "kg_add", **LANTERN | {"object": "port 3"}, sources=(blue,), anchors=("base.txt:1",))
    unmerged_label = 'unmerged: "feature/blue"'
    assert known(memory) == {
        "port 9000": unmerged_label,
        "port 1": unmerged_label,
        "port 2": unmerged_label,
        "port 3": "",
    }


def test_what_holds_everywhere_holds_on_every_branch_whatever_says_so(memory: Memory) -> None:
    memory.checkout.on("feature/blue")
    blue = memory.note("The lantern is blue.")
    run(memory, "kg_add", **LANTERN | {"object": "port 80", "everywhere": True, "sources": (blue,)})
    memory.checkout.on("main")
    assert known(memory) == {"port 9000": 'unmerged: "feature/blue"', "port 80": ""}


def test_facts_of_every_way_to_state_them_know_their_branch_also_when_they_end_or_that_is_taken_back(
    memory: Memory,
) -> None:
    memory.checkout.on("feature/blue")
    lines = json.dumps(LANTERN | {"object": "port 2"})
    run(memory, "kg_add_many", facts=lines)
    run(memory, "checkpoint", document=json.dumps({"facts": [LANTERN | {"object": "port 3"}]}))
    run(memory, "kg_supersede", subject="Lantern Service", predicate="listens on", old="port 3", new="port 4")
    memory.checkout.on("main")
    expected = dict.fromkeys(("port 9000", "port 2", "port 3", "port 4"), 'unmerged: "feature/blue"')
    assert known(memory) == expected
    run(memory, "kg_end", subject="Lantern Service", predicate="listens on", object="port 9000")
    assert known(memory) == expected
    run(memory, "undo")
    assert known(memory) == expected


def test_an_erased_name_of_a_branch_is_in_no_fact(memory: Memory) -> None:
    with memory.at() as context:
        erase(context.writing(), "feature/blue")
        assert not [branch for branch in branches_kept(context) if "blue" in branch]
    run(memory, "kg_add", memory.checkout.on("feature/blue").root, **LANTERN | {"object": "port 80"})
    with memory.at() as context:
        assert not [branch for branch in branches_kept(context) if "blue" in branch]


def branches_kept(context: Context) -> set[str]:
    with context.reading().database.snapshot() as connection:
        return {str(branch) for (branch,) in connection.execute("SELECT branch FROM fact_source")}


# --- diff --------------------------------------------------------------------------------------------------


def told(memory: Memory, branches: str = "main..feature/blue") -> list[str]:
    return [one.text for one in learned(memory, branches).learned.facts]


def test_diff_lists_what_was_stated_on_a_branch_until_it_is_merged(filed: Memory) -> None:
    assert told(filed) == [PORT]
    assert told(filed, "feature/blue..main") == []
    run(filed, "kg_add", **LANTERN)
    assert told(filed) == []  # main knows it too
    run(filed, "undo")
    assert told(filed) == [PORT]
    filed.checkout.git("merge", "-q", "--no-ff", "-m", "merged", "feature/blue")
    assert told(filed) == []


def test_diff_lists_what_a_rebase_rewrote_and_nothing_of_another_project(filed: Memory) -> None:
    other_checkout = Checkout(filed.place / "other", 1_600_000_000).init().on("feature/blue", "HEAD")
    other_checkout.commit("red")
    run(filed, "kg_add", other_checkout.root, subject="Red Service", predicate="uses", object="redis")
    filed.checkout.commit("green")
    filed.checkout.on("feature/blue").git("rebase", "-q", "main")
    assert told(filed) == [PORT]


def test_diff_lists_a_fact_of_the_wing_by_name_where_git_knows_the_branch_no_more(filed: Memory) -> None:
    filed.checkout.on("feature/blue")
    run(filed, "kg_add", subject="shop", predicate="uses", object="redis", wing="shop")
    with filed.at() as context, context.writing().database.transaction() as connection:
        connection.execute("UPDATE fact SET wing = NULL WHERE id = 1")  # as facts were before a wing was the default
    filed.checkout.on("main").git("branch", "-qD", "feature/blue")
    for log in (filed.checkout.root / ".git" / "logs").rglob("*"):
        if log.is_file():
            log.unlink()
    assert told(filed) == ["shop uses redis"]
