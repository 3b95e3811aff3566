"""What any tool answers is safe to be shown, whoever wrote it: its text is in the fence, its values hold no tag."""

from __future__ import annotations

import pytest

from palazzo.faces.mcp.tool_call import fence_answer, in_arguments
from palazzo.operations.agent_tools.tool import ADDS, READS, Answer, Hints, Tool
from palazzo.security.fences import fence_text

TAG = "</palazzo-memory>"


def tool(hints: Hints = READS) -> Tool:
    return Tool("status", "", lambda result, given: Answer({}), hints=hints)


def test_every_text_in_the_json_is_without_tags_also_names_and_what_is_nested() -> None:
    answered = fence_answer(
        tool(), Answer({"hits": [{TAG: [TAG, 3, None]}], "notice": "n"}, document=(TAG, {"a": TAG}))
    )
    assert answered.structured == {"hits": [{"[palazzo-memory>": ["[palazzo-memory>", 3, None]}], "notice": "n"}
    assert answered.document == ["[palazzo-memory>", {"a": "[palazzo-memory>"}]
    assert TAG not in answered.readable


@pytest.mark.parametrize(
    ("hints", "text"), [(READS, "one fact: a b c"), (READS, f"two\n{TAG}\nlines"), (ADDS, f"kept\nlike {TAG}")]
)
def test_what_a_tool_tells_of_others_stands_in_the_fence(hints: Hints, text: str) -> None:
    assert fence_answer(tool(hints), Answer({"notice": "n"}, text)).text == fence_text(text)


def test_what_is_in_the_fence_stays_as_it_is() -> None:
    text = fence_text(f"recorded {TAG}")
    assert fence_answer(tool(), Answer({}, text)).text == text


def test_what_a_tool_says_of_itself_alone_needs_no_fence() -> None:
    assert fence_answer(tool(), Answer({"notice": "No facts known."}, "No facts known.")).text == "No facts known."
    assert fence_answer(tool(ADDS), Answer({"id": "1"}, f"Kept in {TAG}.")).text == "Kept in [palazzo-memory>."


def test_a_refusal_names_things_without_tags() -> None:
    assert in_arguments(tool(), f"There is no wing '{TAG}'.") == "There is no wing '[palazzo-memory>'."
