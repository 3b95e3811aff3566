"""An item comes and goes; what a person wrote around it stays byte for byte."""

from __future__ import annotations

import pytest
import yaml

from palazzo.text.yaml_list import items, with_item, without_item

ITEM = "~/.aider/palazzo.md"


@pytest.mark.parametrize(
    "text",
    [
        "# mine\nmodel: x\n",
        "model: x",
        "",
        "# only mine\n",
        "read: NOTES.md\n",
        'read: "my notes.md"\r\nmodel: x\r\n',
        "read: NOTES.md",
        "read: [NOTES.md, more.md]\nmodel: x\n",
        "read: []  # none yet\n",
        "read:\n- NOTES.md  # the first\n- more.md\nmodel: x\n",
        "model: x\nread:\r\n    - NOTES.md",
    ],
)
def test_an_item_is_added_once_and_removed_without_a_trace(text: str) -> None:
    added = with_item(text, "read", ITEM)
    assert items(added, "read") == [ITEM, *items(text, "read")]
    loaded = yaml.safe_load(added)["read"]
    assert loaded == items(added, "read")
    assert with_item(added, "read", ITEM) == added
    assert without_item(added, "read", ITEM) == text


def test_a_text_that_was_made_for_the_item_goes_with_it() -> None:
    assert without_item(with_item(None, "read", ITEM), "read", ITEM) is None


@pytest.mark.parametrize("text", ["read: {a: b}\n", "read: |\n  a\n", "read: a  # mine\n", "read:\n", "- a\n", "{"])
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"it is not|one item on each line"):
        with_item(text, "read", ITEM)


def test_an_item_of_another_place_stays() -> None:
    assert without_item("read: [a, b]\n", "read", ITEM) == "read: [a, b]\n"
    assert without_item("read: a\n", "read", ITEM) == "read: a\n"
