"""Facts of one project are not facts of another: where they hold, who is told of them, and which of them ends."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from tests.features.branches.test_branches import Memory, patient
from tests.git.checkouts import Checkout

from palazzo.errors import NotFound, UsageError
from palazzo.features.hooks.contract import HookRequest
from palazzo.features.hooks.hook import hook
from palazzo.injection.hook_events import Event
from palazzo.operations import registry

__all__ = ["patient"]

PORT: dict[str, Any] = {"subject": "Lantern Service", "predicate": "listens on", "object": "port 9000"}
SENTENCE = "Lantern Service listens on port 9000"
PROMPT = "Does the Lantern Service still listen on port 9000?"


class Projects(Memory):
    """A palace with two projects that have no commit in common: `shop`, and `garden`."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.sessions = itertools.count()
        self.garden = Checkout(place / "garden", 1_600_000_000).init().root
        self.run("remember", text="The till opens at nine.")
        self.run("remember", self.garden, text="The roses are watered at nine.")

    def run(self, name: str, root: Path | None = None, **request: Any) -> Any:
        """Do something as a command does in a directory."""
        operation = registry.operation(name)
        with self.at(root) as context:
            return operation.run(context, operation.request(**request))

    def facts_about_lantern(self, root: Path | None = None, **asked: Any) -> list[tuple[str, str | None]]:
        """Return what is answered about the lantern, and where it holds."""
        return [
            (fact.object, fact.scope) for fact in self.run("kg_query", root, entity="Lantern Service", **asked).facts
        ]

    def ways_that_tell(self, root: Path | None = None) -> set[str]:
        """Return which of three ways to tell a session unasked tell it of the lantern's port."""
        start = self.hook("session-start", root)
        prompt = self.hook("prompt", root, prompt=PROMPT)
        wake_up_text = self.run("wake_up", root).text
        proactive_facts = self.run("proactive_context", root, context=PROMPT).facts
        is_told_by_way = {
            "start": SENTENCE in start,
            "prompt": SENTENCE in prompt,
            "wake_up": SENTENCE in wake_up_text,
            "proactive": bool(proactive_facts),
        }
        return {way for way, is_told in is_told_by_way.items() if is_told}

    def hook(self, event: Event, root: Path | None = None, **about: Any) -> str:
        """Return what a session is given that begins, or asks something."""
        with self.at(root) as context:
            request = HookRequest(
                "claude-code", event, session=f"s-{next(self.sessions)}", cwd=str(context.cwd), **about
            )
            return hook(context, request).inject

    def let_facts_hold_everywhere(self) -> None:
        """Let facts hold everywhere, as they did before a wing was the default."""
        with self.at() as context, context.writing().database.transaction() as connection:
            connection.execute("UPDATE fact SET wing = NULL")


EVERY_WAY = {"start", "prompt", "wake_up", "proactive"}


@pytest.fixture
def projects(tmp_path: Path) -> Projects:
    """Two projects, and nothing known of a lantern."""
    return Projects(tmp_path)


# --- where they hold ---------------------------------------------------------------------------------------


def test_a_fact_holds_in_the_project_it_is_stated_in_by_whatever_way(projects: Projects) -> None:
    projects.run("kg_add", **PORT)
    projects.run("kg_add_many", facts=json.dumps(PORT | {"object": "port 2"}))
    projects.run("checkpoint", document=json.dumps({"facts": [PORT | {"object": "port 3"}]}))
    assert projects.facts_about_lantern() == [("port 2", "shop"), ("port 3", "shop"), ("port 9000", "shop")]
    assert projects.facts_about_lantern(projects.garden) == []
    assert projects.run("kg_timeline", projects.garden).timeline == ()
    assert projects.run("kg_query", projects.garden, entity="Lantern Service").count_elsewhere == 3
    assert len(projects.facts_about_lantern(projects.garden, everywhere=True)) == 3
    assert projects.run("kg_timeline", projects.garden, everywhere=True).count == 3


def test_a_fact_holds_everywhere_where_somebody_says_so(projects: Projects) -> None:
    projects.run("kg_add", everywhere=True, **PORT)
    projects.run("kg_add_many", facts=json.dumps(PORT | {"object": "port 2", "everywhere": True}))
    projects.run("checkpoint", document=json.dumps({"facts": [PORT | {"object": "port 3", "everywhere": True}]}))
    assert projects.facts_about_lantern(projects.garden) == [("port 2", None), ("port 3", None), ("port 9000", None)]
    for wrong in ({"wing": "shop"}, {"anchors": ("base.txt:1",)}):
        with pytest.raises(UsageError, match="--everywhere"):
            projects.run("kg_add", everywhere=True, **PORT, **wrong)
    with pytest.raises(UsageError, match="true or false"):
        projects.run("checkpoint", document=json.dumps({"facts": [PORT | {"everywhere": "yes"}]}))


def test_outside_of_any_project_a_fact_is_the_persons_own(projects: Projects) -> None:
    projects.run("kg_add", projects.place, **PORT)
    assert projects.facts_about_lantern() == projects.facts_about_lantern(projects.garden) == [("port 9000", "user")]
    projects.run("kg_add", **PORT | {"object": "port 1"})
    assert len(projects.facts_about_lantern(projects.place)) == 2


def test_a_project_that_is_new_to_the_palace_gets_its_wing_by_its_first_fact(projects: Projects) -> None:
    harbour = Checkout(projects.place / "harbour", 1_500_000_000).init().root
    assert projects.facts_about_lantern(harbour) == []
    projects.run("kg_add_many", harbour, facts="\n".join(json.dumps(PORT | {"object": port}) for port in ("1", "2")))
    assert projects.facts_about_lantern(harbour) == [("1", "harbour"), ("2", "harbour")]


# --- which one ends ----------------------------------------------------------------------------------------


def test_the_nearest_fact_ends_and_those_of_other_projects_do_not(projects: Projects) -> None:
    projects.run("kg_add", projects.garden, **PORT)
    with pytest.raises(NotFound, match="in wing garden"):
        projects.run("kg_end", **PORT)
    projects.run("kg_add", everywhere=True, **PORT)
    projects.run("kg_add", **PORT)
    assert projects.run("kg_end", **PORT).ended[0].scope == "shop"
    assert projects.run("kg_end", **PORT).ended[0].scope is None
    assert projects.facts_about_lantern(projects.garden) == [("port 9000", "garden")]


def test_the_fact_that_holds_everywhere_ends_where_that_is_said(projects: Projects) -> None:
    projects.run("kg_add", everywhere=True, **PORT)
    projects.run("kg_add", **PORT)
    assert projects.run("kg_end", everywhere=True, **PORT).ended[0].scope is None
    assert projects.facts_about_lantern() == [("port 9000", "shop")]


def test_what_supersedes_a_fact_holds_where_that_did(projects: Projects) -> None:
    lantern: dict[str, Any] = {"subject": "Lantern Service", "predicate": "listens on"}
    projects.run("kg_add", projects.garden, everywhere=True, **PORT)
    assert projects.run("kg_supersede", **lantern, old="port 9000", new="port 1", at="2026-01-01").opened.scope is None
    projects.run("kg_add", **lantern, object="port 1")
    assert projects.run("kg_supersede", **lantern, old="port 1", new="port 9000").opened.scope == "shop"
    assert projects.facts_about_lantern(projects.garden) == [("port 1", None)]
    result = projects.run("kg_supersede", projects.garden, **lantern, old="port 1", new="port 9000", everywhere=True)
    assert result.opened.scope is None
    assert projects.ways_that_tell(projects.garden) == EVERY_WAY


def test_outside_of_any_project_the_only_fact_that_says_so_ends(projects: Projects) -> None:
    projects.run("kg_add", **PORT)
    projects.run("kg_add", projects.garden, **PORT)
    with pytest.raises(UsageError, match="several wings: name one of garden, shop with --wing"):
        projects.run("kg_end", projects.place, **PORT)
    projects.run("kg_end", projects.place, wing="garden", **PORT)
    assert projects.run("kg_end", projects.place, **PORT).ended[0].scope == "shop"


@pytest.mark.parametrize(("wing", "contradicts"), [("shop", False), ("garden", True), ("user", True)])
def test_words_contradict_no_fact_of_another_project(projects: Projects, wing: str, contradicts: bool) -> None:
    projects.run("kg_add", wing=wing, **PORT)
    projects.run("remember", projects.garden, text="Lantern Service listens on port 9100.")
    assert projects.run("kg_conflicts", projects.garden).count == int(contradicts)


# --- who is told -------------------------------------------------------------------------------------------


def test_only_sessions_of_its_project_are_told_of_a_fact_unasked(projects: Projects) -> None:
    projects.run("kg_add", **PORT)
    assert projects.ways_that_tell() == EVERY_WAY
    assert projects.ways_that_tell(projects.garden) == set()


@pytest.mark.parametrize("scope", [{"everywhere": True}, {"wing": "user"}])
def test_all_sessions_are_told_of_what_is_said_to_hold_everywhere_or_is_the_persons(
    projects: Projects, scope: dict[str, Any]
) -> None:
    source = projects.run("remember", text="A lantern burns.").id
    projects.run("kg_add", sources=(source,), **PORT, **scope)
    assert projects.ways_that_tell(projects.garden) == EVERY_WAY


def test_no_session_is_told_unasked_of_a_fact_that_has_ended(projects: Projects) -> None:
    projects.run("kg_add", valid_from="2025-01-01", **PORT)
    projects.run("kg_end", **PORT)
    assert projects.ways_that_tell() == set()
    assert projects.facts_about_lantern() == []
    assert projects.facts_about_lantern(as_of="2025-06-01") == [("port 9000", "shop")]
    assert len(projects.run("kg_timeline").timeline) == 1


def test_facts_that_have_ended_take_no_place_of_one_that_holds(
    projects: Projects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("palazzo.injection.wake_up_sources._FACTS_READ", 2)
    projects.run("kg_add", **PORT)
    for n in range(2):
        projects.run("kg_add", **PORT | {"object": f"port {n}"}, valid_to="2025-01-01")
    assert SENTENCE in projects.run("wake_up").text


def test_a_fact_that_held_everywhere_by_default_is_told_only_where_its_source_belongs(projects: Projects) -> None:
    projects.run("kg_add", **PORT)  # at a commit of the shop
    projects.let_facts_hold_everywhere()
    assert projects.facts_about_lantern(projects.garden) == [("port 9000", None)]
    assert projects.ways_that_tell() == EVERY_WAY
    assert projects.ways_that_tell(projects.garden) == set()
    projects.run("kg_add", projects.garden, everywhere=True, **PORT)
    assert projects.ways_that_tell(projects.garden) == EVERY_WAY


def test_the_same_of_one_that_an_item_says_and_of_one_without_a_known_source(projects: Projects) -> None:
    source = projects.run("remember", text="A lantern burns.").id
    projects.run("kg_add", projects.garden, sources=(source,), **PORT)
    projects.let_facts_hold_everywhere()
    assert projects.ways_that_tell() == EVERY_WAY
    assert projects.ways_that_tell(projects.garden) == set()
    projects.run("kg_add", projects.place, **PORT)
    projects.let_facts_hold_everywhere()
    assert projects.ways_that_tell(projects.garden) == EVERY_WAY
