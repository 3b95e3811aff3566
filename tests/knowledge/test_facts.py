"""Facts: stated, ended, superseded, asked about, and taken back."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.faces.cli.command import environment
from tests.knowledge.conftest import Kg, told

from palazzo.errors import AmbiguousName, NotFound, UsageError
from palazzo.knowledge.entity_names import LONGEST_NAME, LONGEST_PREDICATE
from palazzo.knowledge.single_valued import SINGLE_VALUED
from palazzo.model import Micros, Place
from palazzo.store import fact_rows


def test_a_fact_holds_from_when_it_is_said_to(kg: Kg) -> None:
    added = kg("add", "api", "uses", "Redis", valid_from="since March")
    assert (added.new, added.fact.valid_from, added.fact.valid_to) == (True, "2026-03-01T00:00:00Z", None)
    assert (added.fact.scope, added.fact.confidence, added.fact.current) == ("user", 1.0, True)
    assert [one.stated_by for one in added.fact.provenance] == ["user"]
    assert kg.says("api", as_of="2026-02-28") == []
    assert kg.says("api", as_of="2026-03-01") == ["api uses Redis"]


def test_stating_it_again_changes_nothing_or_says_what(kg: Kg) -> None:
    first = kg("add", "api", "uses", "Redis", valid_from="2026-03-01")
    again = kg("add", "API", "Uses", "redis")
    assert (again.id, again.new, again.changed) == (first.id, False, ())
    assert kg("add", "api", "uses", "Redis", valid_from="2026-04-01").changed == ()
    assert kg("add", "api", "uses", "Redis", valid_from="2026-01-01").changed == ("valid_from",)
    assert kg("add", "api", "uses", "Redis", confidence=0.5).changed == ()
    assert kg("add", "api", "uses", "Redis", stated_by="bob").changed == ("provenance",)
    guess = kg("add", "api", "uses", "Kafka", confidence=0.3)
    assert kg("add", "api", "uses", "Kafka", confidence=0.9).changed == ("confidence",)
    (kafka,) = [fact for fact in kg("query", "Kafka").facts if fact.id == guess.id]
    assert kafka.confidence == 0.9
    assert kg("stats").facts == 2
    assert len(kg("show", first.id).versions) == 3


def test_the_first_start_that_is_known_is_better_than_none(kg: Kg) -> None:
    kg("add", "api", "uses", "Redis")
    assert kg.says("api", as_of="1999-01-01") == ["api uses Redis"]
    assert kg("add", "api", "uses", "Redis", valid_from="2026-03-01").changed == ("valid_from",)
    assert kg.says("api", as_of="1999-01-01") == []


def test_a_day_that_is_named_as_an_end_belongs_to_the_fact(kg: Kg) -> None:
    kg("add", "api", "uses", "Redis", valid_from="2026-01-01", valid_to="2026-03-01")
    assert kg.says("api", as_of="2026-03-01") == ["api uses Redis"]
    assert kg.says("api", as_of="2026-03-01T23:59:59.999Z") == ["api uses Redis"]
    assert kg.says("api", as_of="2026-03-02T00:00:00Z") == []


def test_re_adding_after_an_end_is_another_fact(kg: Kg) -> None:
    first = kg("add", "api", "uses", "Redis", valid_from="2026-01-01")
    kg("end", "api", "uses", "Redis", at="2026-03-01")
    second = kg("add", "api", "uses", "Redis", valid_from="2026-05-01")
    assert second.new
    assert second.id != first.id
    assert kg.says("api", as_of="2026-04-01") == []
    assert kg.says("api") == ["api uses Redis"]


def test_superseding_at_one_instant_leaves_only_the_successor(kg: Kg) -> None:
    old = kg("add", "api", "uses", "Redis", valid_from="2026-01-01")
    done = kg("supersede", "api", "uses", "redis", "Valkey", at="2026-03-01")
    assert (done.at, done.new) == ("2026-03-01T00:00:00Z", True)
    assert [(fact.id, fact.valid_to, fact.superseded_by) for fact in done.closed] == [(old.id, done.at, done.opened.id)]
    assert kg.says("api", as_of="2026-03-01T00:00:00Z") == ["api uses Valkey"]
    assert kg.says("api", as_of="2026-02-28T23:59:59.999Z") == ["api uses Redis"]
    kg("undo")
    assert kg.says("api") == ["api uses Redis"]
    assert kg("stats").facts == 1


def test_what_does_not_hold_cannot_end_and_what_is_near_is_named(kg: Kg) -> None:
    kg("add", "api", "uses", "Redis", valid_from="2026-02-01")
    kg("add", "web", "uses", "Postgres")
    before = kg("timeline").timeline
    with pytest.raises(NotFound, match=r"no fact 'api uses Postgres .*\"api uses Redis .*"):
        kg("end", "api", "uses", "Postgres")
    with pytest.raises(NotFound, match='"api uses Redis '):
        kg("end", "api", "uses", "Redsi")
    with pytest.raises(NotFound, match="'palazzo kg timeline' shows"):
        kg("end", "moon", "is made of", "cheese")
    with pytest.raises(NotFound, match="does not begin until 2026-02-01"):
        kg("end", "api", "uses", "Redis", at="2026-01-01")
    with pytest.raises(NotFound, match=r"no fact 'api uses Redis .in wing shop.'"):
        kg("end", "api", "uses", "Redis", wing="shop")
    with pytest.raises(UsageError, match="cannot be superseded by itself"):
        kg("supersede", "api", "uses", "Redis", "redis")
    assert kg("timeline").timeline == before
    kg("end", "api", "uses", "Redis", at="2026-03-01")
    with pytest.raises(NotFound, match="already ended at 2026-03-02T00:00:00Z"):
        kg("end", "api", "uses", "Redis")


def test_what_is_believed_and_what_was(kg: Kg) -> None:
    kg.at("2026-01-10T09:00Z")("add", "api", "uses", "Redis", valid_from="2026-01-01")
    kg.at("2026-03-10T09:00Z")("supersede", "api", "uses", "Redis", "Valkey", at="2026-02-01")
    kg.at("2026-06-15T12:00Z")
    assert kg.says("api", as_of="2026-02-15") == ["api uses Valkey"]
    assert kg.says("api", as_of="2026-02-15", known_at="2026-02-15") == ["api uses Redis"]
    assert kg.says("api", known_at="2026-01-09") == []
    late = kg("query", "api", as_of="2026-02-15", known_at="2026-03-10")
    assert (late.as_of, late.known_at) == ("2026-02-15T23:59:59.999Z", "2026-03-10T23:59:59.999Z")
    assert [told(fact) for fact in late.facts] == ["api uses Valkey"]


def test_what_was_taken_back_was_believed_until_then(kg: Kg) -> None:
    kg.at("2026-01-10")("add", "api", "uses", "Oracle")
    kg.at("2026-01-12")("undo")
    assert kg.at("2026-06-15").says("api") == []
    assert kg.says("api", known_at="2026-01-11") == ["api uses Oracle"]
    assert kg("status").facts == 0


def test_a_clock_that_goes_back_changes_no_order(kg: Kg) -> None:
    kg("add", "api", "uses", "Redis", valid_from="2026-01-01")
    kg.at("2026-06-15T11:59:50Z")("supersede", "api", "uses", "Redis", "Valkey", at="2026-03-01")
    for version in kg("show", kg("timeline").timeline[0].id).versions:
        assert version.recorded_at == "2026-06-15T12:00:00Z"
        assert version.retired_at in (None, "2026-06-15T12:00:00Z")
    assert kg.says("api", known_at="2026-06-15T11:59:59Z") == []
    assert kg.says("api", known_at="2026-06-15T12:00:00Z") == ["api uses Valkey"]


def test_facts_of_a_wing_are_asked_for_with_those_that_hold_everywhere(kg: Kg) -> None:
    kg("add", "service", "is written in", "Python", everywhere=True)
    kg("add", "service", "is written in", "Go", wing="shop")
    kg("add", "service", "is written in", "Rust", wing="till")
    assert kg.says("service", wing="shop") == ["service is written in Go", "service is written in Python"]
    assert len(kg.says("service")) == 3
    with pytest.raises(NotFound, match="There are: shop, till"):
        kg("query", "service", wing="nowhere")


def test_the_same_words_in_two_wings_are_two_facts(kg: Kg) -> None:
    everywhere = kg("add", "api", "uses", "Redis", everywhere=True)
    here = kg("add", "api", "uses", "Redis", wing="shop")
    assert here.new
    kg("end", "api", "uses", "Redis", wing="shop")
    assert [fact.id for fact in kg("query", "api").facts] == [everywhere.id]


def test_direction_and_two_hops(kg: Kg) -> None:
    kg("add", "shop", "has", "api")
    kg("add", "api", "uses", "Redis")
    kg("add", "Redis", "runs on", "node 7")
    kg("add", "node 7", "stands in", "Turin")
    assert kg.says("api", direction="subject") == ["api uses Redis"]
    assert kg.says("api", direction="object") == ["shop has api"]
    found = kg("query", "api", hops=2).facts
    assert [(told(fact), fact.hop) for fact in found] == [
        ("api uses Redis", 1), ("shop has api", 1), ("Redis runs on node 7", 2),
    ]  # fmt: skip
    assert [fact.direction for fact in kg("query", "api").facts] == ["subject", "object"]
    cut = kg("query", "api", hops=2, limit=2)
    assert (cut.count, cut.truncated) == (2, True)
    for hops in (0, 3):
        with pytest.raises(UsageError, match="must be 1 or 2"):
            kg("query", "api", hops=hops)


def test_the_neighbours_of_a_hub_are_not_all_looked_at(kg: Kg) -> None:
    lines = [json.dumps({"subject": "hub", "predicate": "has", "object": f"spoke {n}"}) for n in range(80)]
    lines += [json.dumps({"subject": f"spoke {n}", "predicate": "has", "object": f"rim {n}"}) for n in range(80)]
    kg("add_many", "\n".join(lines))
    found = kg("query", "hub", hops=2, limit=1000)
    assert sum(fact.hop == 1 for fact in found.facts) == 80
    assert sum(fact.hop == 2 for fact in found.facts) == 50
    assert found.truncated


# --- names -------------------------------------------------------------------------------------------------


def test_an_exact_name_beats_all_others_then_its_spelling_then_what_is_near(kg: Kg) -> None:
    kg("add", "auth", "is", "a team")
    kg("add", "auth-service", "is", "a program")
    assert (kg("query", "auth").entity, kg("query", "auth").matched) == ("auth", "name")
    assert (kg("query", "Auth Service").entity, kg("query", "AUTH_service").matched) == ("auth-service", "spelling")
    kg("add", "billing", "is", "a program")
    assert (kg("query", "biling").entity, kg("query", "biling").matched) == ("billing", "near")
    nothing = kg("query", "moon")
    assert (nothing.entity, nothing.matched, nothing.facts, nothing.count) == ("moon", None, (), 0)


def test_a_name_that_may_mean_several_is_refused_with_their_names(kg: Kg) -> None:
    kg("add", "auth service", "is", "old")
    kg("add", "auth server", "is", "new")
    for asked in ("auth serve", "auth"):
        with pytest.raises(AmbiguousName, match=r"auth serv.*, auth serv") as refused:
            kg("query", asked)
        assert set(refused.value.candidates) == {"auth service", "auth server"}


def test_a_new_name_like_a_known_one_is_pointed_out(kg: Kg) -> None:
    kg("add", "postgres", "is", "a database")
    assert kg("add", "postgress", "is", "fast").near == {"postgress": ("postgres",)}
    assert kg("add", "api", "uses", "Postgres").near == {}


def test_another_name_means_the_same_entity_until_it_is_removed(kg: Kg) -> None:
    kg("add", "PostgreSQL", "is", "a database")
    assert kg("alias", "pg", "postgresql").added.entity == "PostgreSQL"
    assert kg("alias", "pg", "PostgreSQL").added is None
    kg("add", "pg", "listens on", "5432")
    assert kg.says("PostgreSQL") == ["PostgreSQL is a database", "PostgreSQL listens on 5432"]
    assert kg("query", "PG").matched == "spelling"
    assert kg("alias", "pg", remove=True).removed.entity == "PostgreSQL"
    assert kg("query", "pg").matched is None
    with pytest.raises(NotFound, match="is not an alias"):
        kg("alias", "pg", remove=True)
    kg("undo")
    assert [one.name for one in kg("alias").aliases] == ["pg"]


def test_a_name_with_facts_of_its_own_cannot_become_another_name(kg: Kg) -> None:
    kg("add", "pg", "is", "fast")
    kg("add", "PostgreSQL", "is", "a database")
    with pytest.raises(UsageError, match="'palazzo kg merge'"):
        kg("alias", "pg", "PostgreSQL")
    kg("undo")
    kg("undo")  # what was stated by mistake does not stand in the way
    kg("add", "PostgreSQL", "is", "a database")
    assert kg("alias", "pg", "PostgreSQL").added


def test_a_merge_can_be_taken_apart_again(kg: Kg) -> None:
    kg("add", "pg", "listens on", "5432")
    kg("add", "PostgreSQL", "is", "a database")
    kg("merge", "pg", "PostgreSQL")
    assert kg.says("pg") == ["PostgreSQL is a database", "PostgreSQL listens on 5432"]
    assert not kg("add", "PostgreSQL", "listens on", "5432").new
    with pytest.raises(UsageError, match="are already the same entity"):
        kg("merge", "PostgreSQL", "pg")
    with pytest.raises(UsageError, match="already merged into PostgreSQL"):
        kg("merge", "pg", "5432")
    kg("unmerge", "pg")
    assert kg.says("pg") == ["pg listens on 5432"]
    assert kg.says("PostgreSQL") == ["PostgreSQL is a database"]
    with pytest.raises(NotFound, match="not merged into another entity"):
        kg("unmerge", "pg")


# --- conflicts ---------------------------------------------------------------------------------------------


def test_two_objects_at_once_of_what_can_have_one_are_a_conflict_and_both_stay(kg: Kg) -> None:
    kg("predicate", "listens on", functional=True)
    first = kg("add", "api", "listens on", "8443", valid_from="2026-01-01")
    second = kg("add", "api", "listens on", "9000", valid_from="2026-02-01")
    assert len(second.conflicts) == 1
    (conflict,) = kg("conflicts").conflicts
    assert (conflict.kind, conflict.earlier.fact.id, conflict.later.fact.id) == ("functional", first.id, second.id)
    assert len(kg.says("api")) == 2
    kg("end", "api", "listens on", "8443", at="before 2026-02-01")
    assert kg("conflicts").conflicts == ()
    (settled,) = kg("conflicts", all=True).conflicts
    assert not settled.standing


def test_what_follows_another_is_in_no_conflict_with_it(kg: Kg) -> None:
    kg("predicate", "listens on", functional=True)
    kg("add", "api", "listens on", "8443")
    assert kg("supersede", "api", "listens on", "8443", "9000").conflicts == ()
    kg("add", "web", "listens on", "80", valid_to="2026-01-01")
    assert kg("add", "web", "listens on", "443", valid_from="2026-01-02").conflicts == ()
    kg("add", "till", "listens on", "1")
    assert kg("add", "till", "listens on", "2", wing="shop").conflicts == ()
    assert kg("conflicts", all=True).conflicts == ()


def test_a_declaration_finds_conflicts_that_were_there_and_can_be_taken_back(kg: Kg) -> None:
    kg("add", "api", "listens on", "8443")
    kg("add", "api", "listens on", "9000")
    declared = kg("predicate", "Listens-On", functional=True)
    assert [(one.name, one.functional, one.facts) for one in declared.predicates] == [("listens on", True, 2)]
    assert len(declared.conflicts) == 1
    kg("undo")
    assert kg("conflicts").conflicts == ()
    assert not kg("predicate", "listens on").predicates[0].functional


def test_a_conflict_is_dismissed_and_shown_again_by_undo(kg: Kg) -> None:
    kg("predicate", "listens on", functional=True)
    kg("add", "api", "listens on", "8443")
    (found,) = kg("add", "api", "listens on", "9000").conflicts
    kg("dismiss", (found[:12],))
    assert kg("conflicts").conflicts == ()
    assert kg("add", "api", "listens on", "9000", stated_by="bob").conflicts == ()
    kg("undo")
    kg("undo")
    assert [one.id for one in kg("conflicts").conflicts] == [found]
    with pytest.raises(NotFound, match="has the id '00000000'"):
        kg("dismiss", ("00000000",))


def test_a_merge_and_its_end_show_conflicts(kg: Kg) -> None:
    kg("predicate", "listens on", functional=True)
    kg("add", "api", "listens on", "8443")
    kg("add", "API server", "listens on", "https")
    assert len(kg("merge", "API server", "api").conflicts) == 1
    kg("merge", "https", "8443")
    assert kg("conflicts").conflicts == ()
    kg("unmerge", "https")
    assert len(kg("conflicts").conflicts) == 1


# --- provenance, secrets, many ----------------------------------------------------------------------------


def test_provenance_cites_items_and_stretches_of_them(kg: Kg) -> None:
    note = kg.context.writing().remember("We use Redis for sessions.", Place("shop", "notes"))
    added = kg("add", "api", "uses", "Redis", sources=(note.drawers[0][:10],), stated_by="bob")
    (cited,) = added.fact.provenance
    assert (cited.stated_by, cited.item, cited.start, cited.end) == ("bob", note.item, 0, 26)
    assert kg("add", "api", "uses", "Redis", sources=(note.item,)).changed == ("provenance",)
    with pytest.raises(NotFound, match="Nothing has the id"):
        kg("add", "api", "uses", "Kafka", sources=("0123456789",))
    assert kg.says("Kafka") == []


def test_a_secret_is_taken_out_before_anything_is_kept(kg: Kg) -> None:
    key, password = "AKIA" + "IOSFODNN7EXAMPLQ", "hunter2hunter2"
    kg("add", "deploy", "uses the key", key, stated_by=f"bob {key}")
    kg("add", "db", "password", password)
    kg("add", "db", "is", "<private>the one in the cellar</private> old")
    kg("alias", f"key {key}", "deploy")
    with pytest.raises(UsageError, match="is private"):
        kg("add", "<private>me</private>", "likes", "tea")
    shown = [fact.object for fact in kg("timeline").timeline]
    assert shown[0].startswith("[redacted:aws-access-key:")
    assert shown[1].startswith("[redacted:password:")
    assert shown[2] == "[private] old"
    assert kg.says(key) == [f"deploy uses the key {shown[0]}"]
    kg.context.close()
    for path in kg.directory.rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            assert key.encode() not in held
            assert password.encode() not in held
            assert b"cellar" not in held


def test_many_facts_are_one_change_and_a_bad_line_costs_no_other(kg: Kg) -> None:
    lines = [
        {"subject": "api", "predicate": "uses", "object": "Redis", "from": "since March", "confidence": 0.5},
        {"subject": "api", "predicate": "uses", "object": "Redis", "stated_by": "bob"},
        {"subject": "api", "predicate": "uses", "object": "Redis"},
        {"subject": "api", "predicate": "uses"},
        {"subject": "api", "predicate": "uses", "object": 7},
        {"subject": "api", "predicate": "uses", "object": "x", "colour": "red"},
        {"subject": "api", "predicate": "uses", "object": "x", "confidence": "high"},
        {"subject": "api", "predicate": "uses", "object": "x", "confidence": True},
        {"subject": "api", "predicate": "uses", "object": "x", "sources": "abc"},
        {"subject": "api", "predicate": "uses", "object": "x", "from": "2026-02-30"},
        ["api", "uses", "x"],
    ]
    text = "\ufeff" + "\n".join(json.dumps(line) for line in lines) + "\n\nno json\n" + "[" * 100_000
    done = kg("add_many", text)
    assert (done.new, done.changed, done.unchanged, len(set(done.ids))) == (1, 1, 1, 1)
    assert [failed.line for failed in done.failed] == [4, 5, 6, 7, 8, 9, 10, 11, 13, 14]
    assert all(failed.error.endswith(".") and len(failed.error) < 300 for failed in done.failed)
    assert kg.says("api") == ["api uses Redis"]
    kg("undo")
    assert kg.says("api") == []


def test_what_was_added_and_bettered_by_one_change_is_taken_back_whole(kg: Kg) -> None:
    kg("add_many", "\n".join(json.dumps({"subject": "a", "predicate": "b", "object": f"{n % 70}", "stated_by": f"{n}"})
                             for n in range(300)))  # fmt: skip
    assert kg("stats").facts == 70
    kg("undo")
    assert kg("stats").facts == 0


def test_nothing_changed_is_no_change_to_take_back(kg: Kg) -> None:
    kg("add", "api", "uses", "Redis")
    kg("add", "api", "uses", "Redis")
    kg("undo")
    assert kg.says("api") == []
    with pytest.raises(NotFound, match="nothing to undo"):
        kg("undo")


ADDING = """
import sys
from pathlib import Path
from palazzo.operations import registry
from palazzo.operations.context import Context
directory = Path(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
with Context(palace=directory / "palace.db", cwd=directory) as context:
    add = registry.operation("kg_add")
    for n in range(30):
        print(add.run(context, add.request("api", "uses", f"thing {n}", stated_by=sys.argv[2])).id, flush=True)
"""


def test_two_processes_that_state_the_same_facts_at_once_make_them_once(kg: Kg, tmp_path: Path) -> None:
    kg("add", "api", "is", "there")
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", ADDING, str(tmp_path), name], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment({"HOME": str(tmp_path), "PALAZZO_SERVICE": "off"}),
        )
        for name in ("alice", "bob")
    ]  # fmt: skip
    for program in programs:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
    for program in programs:
        assert program.stdin is not None
        program.stdin.write("go\n")
        program.stdin.flush()
    answers = [program.communicate(timeout=60)[0].split() for program in programs]
    assert [program.returncode for program in programs] == [0, 0]
    assert len(answers[0]) == 30
    assert answers[0] == answers[1]
    assert kg("stats").facts == 31
    assert {one.stated_by for one in kg("query", "thing 7").facts[0].provenance} == {"alice", "bob"}


# --- what is asked for wrongly -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "named", "why"),
    [
        (("api", "uses", "x"), {"valid_from": "2026-03-01", "valid_to": "2026-02-01"}, "before it begins"),
        (("api", "uses", "x"), {"valid_from": "2026-03-02", "valid_to": "2026-03-01"}, "before it begins"),
        (("api", "uses", "x"), {"valid_from": "2026-02-30"}, "--from: '2026-02-30' is not a time"),
        (("api", "uses", "x"), {"valid_to": "2026-13-01"}, "--to: '2026-13-01' is not a time"),
        (("api", "uses", "x"), {"valid_from": "2026-03-01 10:00 Mars/Olympus"}, "is not a known time zone"),
        (("api", "uses", "x"), {"valid_from": "once upon a time"}, "is not a time"),
        (("", "uses", "x"), {}, "The subject is empty"),
        (("api", " \n ", "x"), {}, "The predicate is empty"),
        (("api", "p" * 10_000, "x"), {}, f"has 10,000 characters; the limit is {LONGEST_PREDICATE}"),
        (("api", "uses", "x" * 10_000), {}, f"the limit is {LONGEST_NAME:,}. Save longer text"),
        (("api", "uses", "x\x00y"), {}, "contains unprintable characters"),
        (("api", "uses", "\ud800"), {}, "contains unprintable characters"),
        (("api", "uses", "x"), {"confidence": 1.5}, "between 0 and 1"),
        (("api", "uses", "x"), {"confidence": float("nan")}, "between 0 and 1"),
        (("api", "uses", "x"), {"stated_by": ""}, "name of whoever states it must have"),
        (("api", "uses", "x"), {"wing": "🙂"}, "is not a valid name"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence_and_changes_nothing(
    kg: Kg, given: tuple[str, ...], named: dict[str, object], why: str
) -> None:
    kg("add", "there", "was", "something")
    before = kg("timeline").timeline
    with pytest.raises(UsageError, match=why) as refused:
        kg("add", *given, **named)
    assert len(str(refused.value)) < 400
    assert "\n" not in str(refused.value)
    assert kg("timeline").timeline == before


def test_a_refusal_makes_no_palace(kg: Kg) -> None:
    with pytest.raises(UsageError):
        kg("add", "api", "p" * 10_000, "x")
    with pytest.raises(UsageError):
        kg("add", "api", "uses", "x", valid_from="2026-02-30")
    assert not (kg.directory / "palace.db").exists()


def test_an_entity_may_be_named_like_a_flag_or_an_operator(kg: Kg) -> None:
    for name in ("--help", "-", "%", "_", "NULL", "' OR 1=1 --", '"quoted"', "a\\b", "漢字", "🙂"):
        kg("add", name, "is", "a name")
        assert kg.says(name, direction="subject") == [f"{name} is a name"]
    assert kg("stats").facts == 10


# --- show, timeline, erase ---------------------------------------------------------------------------------


def test_show_tells_a_fact_with_all_that_was_believed_of_it(kg: Kg) -> None:
    added = kg.at("2026-01-10")("add", "api", "uses", "Redis", valid_from="2026-01-01")
    kg.at("2026-03-10")("end", "api", "uses", "Redis")
    kg.at("2026-06-15")
    shown = kg("show", added.id[:14])
    assert (shown.kind, shown.id, len(shown.versions)) == ("fact", added.id, 2)
    assert [one.valid_to for one in shown.versions] == [None, "2026-03-10T00:00:00Z"]
    assert [one.retired_at for one in shown.versions] == ["2026-03-10T00:00:00Z", None]
    assert len(kg("show", added.id, as_of="2026-02-01").versions) == 1
    with pytest.raises(NotFound, match="did not exist yet"):
        kg("show", added.id, as_of="2026-01-01")
    with pytest.raises(UsageError, match="no bytes"):
        kg("show", added.id, raw=True)


def test_the_timeline_begins_with_what_has_no_known_beginning(kg: Kg) -> None:
    kg("add", "api", "uses", "Redis", valid_from="2026-03-01")
    kg("add", "api", "uses", "Lua")
    kg("add", "api", "uses", "Kafka", valid_from="2026-01-01", valid_to="2026-02-01")
    timeline = kg("timeline", "api")
    assert [fact.object for fact in timeline.timeline] == ["Lua", "Kafka", "Redis"]
    assert [fact.current for fact in timeline.timeline] == [True, False, True]
    part = kg("timeline", limit=1, offset=1)
    assert ([fact.object for fact in part.timeline], part.count) == (["Kafka"], 3)
    assert kg("timeline", "nobody").timeline == ()
    stats = kg("stats")
    assert (stats.facts, stats.current, stats.ended, stats.planned, stats.entities) == (3, 2, 1, 0, 4)


def test_erased_words_are_in_no_name_of_facts(kg: Kg) -> None:
    kg("add", "Project Heron", "uses", "heron-db", stated_by="heron bot")
    kg("add", "Project HERON", "heron rule", "x")
    kg("alias", "the heron", "Project Heron")
    kg("undo")
    with kg.context.writing().database.transaction() as connection:
        assert any("heron" in words.casefold() for words in fact_rows.words(connection))
        heron = re.compile("heron", re.IGNORECASE)
        changed = fact_rows.erase_words(connection, lambda text: heron.sub("█" * 5, text))
        assert changed == 5
        assert not any("heron" in words.casefold() for words in fact_rows.words(connection))
    assert [told(fact) for fact in kg("timeline").timeline] == [
        "Project █████ uses █████-db", "Project █████ █████ rule x",
    ]  # fmt: skip
    assert kg.says("project █████", direction="subject") != []


def test_now_is_what_the_clock_says(kg: Kg) -> None:
    kg("add", "api", "uses", "Redis", valid_from="next month")
    assert kg.says("api") == []
    kg.now = Micros(kg.now + 31 * 86_400_000_000)
    assert kg.says("api") == ["api uses Redis"]


# --- predicates that are known to have one value -----------------------------------------------------------


def contradicts(kg: Kg, predicate: str, *objects: str) -> bool:
    """Whether the last of these values of something is in conflict with those before it."""
    return bool([kg("add", "api", predicate, thing) for thing in objects][-1].conflicts)


@pytest.mark.parametrize(
    ("predicate", "values"),
    [
        ("port", ("8080", "9090")),
        ("runs_on_port", ("8080", "port 9090")),
        ("Listens on port", ("8080", "8443/tcp")),
        ("version", ("1.2.0", "v1.3")),
        ("uses_version", ("Python 3.11", "python 3.12")),
        ("default-branch", ("main", "master")),
        ("date of birth", ("1990-03-01", "1991-03-01")),
    ],
)
def test_two_values_of_what_has_one_are_a_conflict_without_a_declaration(
    kg: Kg, predicate: str, values: tuple[str, str]
) -> None:
    assert contradicts(kg, predicate, *values)
    (conflict,) = kg("conflicts").conflicts
    assert (conflict.earlier.fact.object, conflict.later.fact.object) == values


@pytest.mark.parametrize(
    ("predicate", "values"),
    [
        ("uses", ("Python", "Redis")),
        ("depends on", ("httpx", "anyio")),
        ("listens on", ("8080", "9090")),
        ("owned by", ("ana", "bo")),
        ("lives in", ("Berlin", "Germany")),
        ("port", ("8080", "8080/tcp")),
        ("port", ("8080", "the one of the gateway")),
        ("version", ("3.11", "3.11.4")),
        ("version", ("3.11", "v3.11")),
        ("version", (">=3.11", "3.12")),
        ("uses version", ("Python 3.11", "Node 20")),
        ("default branch", ("main", "origin/main")),
        ("birthday", ("1990-03-01", "1 March 1990")),
    ],
)
def test_what_may_have_several_values_or_says_the_same_is_no_conflict(
    kg: Kg, predicate: str, values: tuple[str, str]
) -> None:
    assert not contradicts(kg, predicate, *values)


def test_values_of_two_times_or_two_wings_are_no_conflict(kg: Kg) -> None:
    kg("add", "api", "port", "1", valid_to="2026-01-01")
    assert kg("add", "api", "port", "2", valid_from="2026-02-01").conflicts == ()
    assert kg("add", "api", "port", "3", wing="shop").conflicts == ()


def test_facts_that_an_earlier_palazzo_kept_are_compared(kg: Kg) -> None:
    kg("add", "api", "port", "8080")
    kg("add", "api", "port", "9090")
    with kg.context.writing().database.transaction() as connection:
        connection.execute("DELETE FROM conflict")  # as where nobody knew that a port is one
    (conflict,) = kg("conflicts").conflicts
    assert (conflict.earlier.fact.object, conflict.later.fact.object) == ("8080", "9090")
    kg("dismiss", (conflict.id,))
    assert kg("conflicts").count == 0


def test_a_person_may_say_otherwise_or_be_stricter(kg: Kg) -> None:
    assert contradicts(kg, "port", "8080", "9090")
    (predicate,) = kg("predicate", "port", many=True).predicates
    assert not predicate.functional
    assert kg("conflicts").count == 0
    assert not contradicts(kg, "port", "7070")
    kg("undo")
    kg("undo")
    assert kg("predicate", "port").predicates[0].functional
    assert kg("conflicts").count == 1
    assert kg("predicate", "port", functional=True).predicates[0].functional
    assert contradicts(kg, "port", "the one of the gateway")


@pytest.mark.parametrize(
    ("first", "second", "remaining_object"),
    [
        ({}, {}, "9090"),
        ({"valid_from": "2026-01-01"}, {"valid_from": "2026-03-01"}, "9090"),
        ({"valid_from": "2026-03-01"}, {"valid_from": "2026-01-01"}, "8080"),
        ({"valid_from": "2026-01-01"}, {"valid_from": "2026-01-01"}, "9090"),
        ({"wing": "a-shop"}, {"wing": "a-shop"}, "9090"),
        ({"everywhere": True}, {"everywhere": True}, "9090"),
    ],
)
def test_a_conflict_names_the_command_that_settles_it(
    kg: Kg, first: dict[str, Any], second: dict[str, Any], remaining_object: str
) -> None:
    kg("add", "the api", "runs on port", "8080", **first)
    kg("add", "the api", "runs on port", "9090", **second)
    (conflict,) = kg("conflicts").conflicts
    command, words = shlex.split(conflict.mend)[:3], shlex.split(conflict.mend)[3:]
    assert command == ["palazzo", "kg", "supersede"]
    options = dict(itertools.pairwise(words))
    at, wing, everywhere = options.get("--at"), options.get("--wing"), "--everywhere" in words
    kg("supersede", *words[-4:], at=at, wing=wing, everywhere=everywhere)
    assert kg("conflicts").count == 0
    assert kg.says("the api", everywhere=True) == [f"the api runs on port {remaining_object}"]


def test_the_page_lists_the_predicates_that_are_known_to_have_one_value() -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "keep-facts.md"
    table_cells = re.findall(r"^\| `(.+)` \|", page.read_text("utf-8"), re.MULTILINE)
    assert {name for line in table_cells for name in line.split("`, `")} == {*SINGLE_VALUED}
