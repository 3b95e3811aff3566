"""Whatever tells of a memory says what has become of the files that it cites."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.archive.conversations import answered, called, file_rows
from tests.features.hooks.test_hook import START, Clock
from tests.git.checkouts import Checkout as Repository

from palazzo.features.facts.contract import KgAddRequest, KgQueryRequest
from palazzo.features.facts.kg_add import kg_add
from palazzo.features.facts.kg_query import kg_query
from palazzo.features.hooks.contract import HookRequest, ToolCall
from palazzo.features.hooks.hook import hook
from palazzo.features.notes.contract import RememberRequest
from palazzo.features.notes.remember import remember
from palazzo.features.search import hit_entries, hit_freshness
from palazzo.features.search.contract import HitView, SearchRequest, ShowRequest
from palazzo.features.search.search import search
from palazzo.features.search.show import show
from palazzo.features.wakeup.contract import ProactiveContextRequest, WakeUpRequest
from palazzo.features.wakeup.proactive_context import proactive_context
from palazzo.features.wakeup.wake_up import wake_up
from palazzo.model import Place, Source
from palazzo.operations.context import Context
from palazzo.operations.shared_views import CitationView
from palazzo.sources.formats.block_text import call_text

RULE = "Cart totals are rounded half up, as the tax office wants it."
CODE = "".join(f"def rounded_{n}(total: Decimal) -> Decimal:\n    return total.quantize(STEP_{n})\n" for n in range(9))
WHERE = "src/cart.py:3-6"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def project(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "api").init()
    (repository.root / "src").mkdir()
    repository.commit("cart", CODE, "src/cart.py")
    return repository


@pytest.fixture
def context(project: Repository, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    monkeypatch.setattr("palazzo.git.freshness.TIMEOUT_SECONDS", 20.0)
    variables = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off", "TZ": "UTC", "PALAZZO_MIN_MESSAGES": "1"}
    with Context(tmp_path / "palace.db", project.root, variables, clock=clock) as opened:
        remember(opened, RememberRequest(RULE, kind="decision", anchors=(WHERE,)))
        yield opened


def found(context: Context) -> HitView:
    (hit,) = search(context, SearchRequest("Why are cart totals rounded half up?")).hits
    return hit


def rewrite(project: Repository, words: str) -> None:
    (project.root / "src/cart.py").write_text(words)


def test_a_hit_whose_lines_stand_is_fresh_and_nothing_is_remarked(context: Context) -> None:
    hit = found(context)
    assert (hit.freshness, hit.cited) == ("fresh", "")
    assert hit.citations == (CitationView("src/cart.py", 3, 6, "fresh", ""),)


def test_a_hit_says_where_its_lines_have_moved(context: Context, project: Repository) -> None:
    rewrite(project, "# one\n" + CODE)
    hit = found(context)
    assert (hit.freshness, hit.cited) == ("moved", "moved to src/cart.py:4-7")
    assert hit.citations == (CitationView("src/cart.py", 3, 6, "moved", "src/cart.py:4-7"),)


def test_a_hit_says_that_its_lines_have_changed_and_what_their_file_is_called(
    context: Context, project: Repository
) -> None:
    rewrite(project, CODE.replace("rounded_1", "cut_1"))
    hit = found(context)
    assert (hit.freshness, hit.cited) == ("changed", f"changed since: {WHERE}")
    project.git("mv", "src/cart.py", "src/basket.py")
    hit = found(context)
    assert (hit.freshness, hit.cited) == ("changed", f"changed since: {WHERE} (now src/basket.py)")
    assert hit.citations[0].now == "src/basket.py"


def test_a_hit_says_that_its_file_is_gone(context: Context, project: Repository) -> None:
    (project.root / "src/cart.py").unlink()
    hit = found(context)
    assert (hit.freshness, hit.cited) == ("gone", f"gone: {WHERE}")


def test_a_model_is_told_of_it_beside_the_words(context: Context, project: Repository) -> None:
    rewrite(project, "")
    assert f"(changed since: {WHERE})" in hit_entries.of_hit(found(context), project.root).lines


def test_what_cites_nothing_or_belongs_to_another_project_is_unknown(context: Context, tmp_path: Path) -> None:
    other = Repository(tmp_path / "shop", now=1_600_000_000).init()
    variables = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off"}
    with Context(tmp_path / "palace.db", other.root, variables) as elsewhere:
        remember(elsewhere, RememberRequest("The shop has a timeout of two seconds."))
        hits = search(elsewhere, SearchRequest("cart totals rounded timeout of the shop")).hits
    assert {(hit.wing, hit.freshness, hit.citations) for hit in hits} == {
        ("api", "unknown", ()),
        ("shop", "unknown", ()),
    }


def test_show_tells_the_same_of_a_drawer_and_of_its_note(context: Context, project: Repository) -> None:
    rewrite(project, "")
    drawer = show(context, ShowRequest(found(context).id))
    note = show(context, ShowRequest(drawer.entries[0].spans[0].item))
    for entry in (*drawer.entries, *note.entries):
        assert (entry.freshness, entry.cited) == ("changed", f"changed since: {WHERE}")
        assert entry.citations == (CitationView("src/cart.py", 3, 6, "changed", ""),)


def test_a_wake_up_remarks_what_has_become_of_what_a_decision_cites(context: Context, project: Repository) -> None:
    assert "changed since" not in wake_up(context, WakeUpRequest()).text
    rewrite(project, "")
    assert f"changed since: {WHERE}" in wake_up(context, WakeUpRequest()).text


def test_a_prompt_that_asks_for_it_brings_the_remark(context: Context, project: Repository) -> None:
    hook(context, START)
    rewrite(project, "")
    asked = HookRequest("claude-code", "prompt", START.session, prompt="What did we decide about rounding cart totals?")
    assert f"changed since: {WHERE}" in hook(context, asked).inject


def test_what_is_called_for_unasked_is_labelled(context: Context, project: Repository) -> None:
    rewrite(project, "")
    called = proactive_context(context, ProactiveContextRequest("Why are cart totals rounded half up? The tax office."))
    assert [called.labels[one.id] for one in called.memories] == [f"changed since: {WHERE}"]


def test_after_a_file_was_read_notes_on_it_say_that_their_lines_changed(context: Context, project: Repository) -> None:
    hook(context, START)
    rewrite(project, "")
    read = ToolCall("Read", "read", {"file_path": "src/cart.py"}, output="")
    asked = HookRequest("claude-code", "post-tool", START.session, tool=read)
    assert f"changed since: {WHERE}" in hook(context, asked).inject


def test_what_an_agent_read_and_then_edited_has_changed_since_and_what_it_wrote_is_fresh(
    context: Context, project: Repository
) -> None:
    path = project.root / "src/cart.py"
    shown = "".join(f"{n}\t{line}\n" for n, line in enumerate(CODE.splitlines(), 1))
    edit = call_text("Edit", {"file_path": str(path), "old_string": "STEP_1)", "new_string": "HALF_UP, STEP_1)"})
    rows = [called(2, "Read", f"Read\nfile_path: {path}", "c1"), answered(3, shown, "c1")]
    rows += [called(4, "Edit", edit, "c2"), answered(5, "The file has been updated.", "c2")]
    source = Source(("session", "s1"), "claude-code", "file:///s1.jsonl", "s1", "A session", context.project.identity)
    file_rows(context.writing(), rows, source=source, place=Place(context.project_wing, "sessions"))
    context.writing().follow_anchors()

    def told() -> dict[str, set[str]]:
        """What is said of the lines of each kind of citation, by their numbers."""
        hits = search(context, SearchRequest("cart.py rounded_4 quantize HALF_UP", room="sessions")).hits
        found: dict[str, set[str]] = {}
        for one in (citation for hit in hits for citation in hit.citations):
            found.setdefault(f"{one.path}:{one.first}", set()).add(one.freshness)
        return found

    rewrite(project, CODE.replace("STEP_1)", "HALF_UP, STEP_1)"))
    assert told() == {"src/cart.py:0": {"changed"}, "src/cart.py:4": {"fresh"}}
    rewrite(project, "")
    assert told() == {"src/cart.py:0": {"changed"}, "src/cart.py:4": {"changed"}}


def test_a_fact_says_what_has_become_of_what_it_cites(context: Context, project: Repository) -> None:
    kg_add(context, KgAddRequest("cart", "rounds", "half up", anchors=(WHERE,)))
    kg_add(context, KgAddRequest("cart", "holds", "parcels"))

    def told() -> dict[str, tuple[str, str]]:
        return {one.object: (one.freshness, one.cited) for one in kg_query(context, KgQueryRequest("cart")).facts}

    assert told() == {"half up": ("fresh", ""), "parcels": ("unknown", "")}
    rewrite(project, "")
    assert told() == {"half up": ("changed", f"changed since: {WHERE}"), "parcels": ("unknown", "")}


def test_a_search_needs_no_key_to_answer(context: Context) -> None:
    with context.writing().database.transaction() as connection:
        connection.execute("DELETE FROM meta WHERE key LIKE '%fingerprint%' OR key LIKE '%redaction%'")
    assert found(context).freshness == "unknown"


def test_few_of_many_files_are_named_and_the_others_counted(context: Context, project: Repository) -> None:
    for n in range(5):
        project.commit(f"file {n}", f"value_{n} = measured({n})\n", f"src/{n}.py")
    remember(context, RememberRequest("Measured values are cached.", anchors=tuple(f"src/{n}.py" for n in range(5))))
    for n in range(5):
        (project.root / f"src/{n}.py").write_text("")
    hit = search(context, SearchRequest("Are measured values cached?")).hits[0]
    assert hit.cited == "changed since: src/0.py, src/1.py and 3 more"
    assert len(hit.citations) == 5


def test_a_path_of_many_lines_is_told_on_one(context: Context) -> None:
    assert hit_freshness._place("a\nb\u202e\x1b[1m.py", 1, 2) == "a b [1m.py:1-2"
    assert len(hit_freshness._place("x" * 500, 0, 0)) < 130
