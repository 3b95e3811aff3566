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


SERVER = "{name: palazzo, command: /bin/palazzo, args: [mcp]}"


@pytest.mark.parametrize(
    "text",
    [
        "# mine\nname: Mine\nmodels:\n  - name: x\n",
        "servers:\n  - name: other\n    command: other\n\n# last\nname: Mine\n",
        "servers:\r\n- uses: a/b\r\n- {name: other, command: other}\r\n",
        "servers: [{name: other, command: other}]\nname: Mine\n",
        "servers: []\n",
    ],
)
def test_a_mapping_is_an_item_too(text: str) -> None:
    added = with_item(text, "servers", SERVER)
    assert items(added, "servers")[0] == {"name": "palazzo", "command": "/bin/palazzo", "args": ["mcp"]}
    assert with_item(added, "servers", SERVER) == added
    assert without_item(added, "servers", items(added, "servers")[0]) == text


def test_a_mapping_of_several_lines_is_removed_with_all_of_them() -> None:
    text = "servers:\n  - name: palazzo\n    command: palazzo\n    args:\n      - mcp\n  # theirs\n  - name: other\n"
    assert without_item(text, "servers", items(text, "servers")[0]) == "servers:\n  # theirs\n  - name: other\n"


def test_a_text_that_was_made_for_the_item_goes_with_it() -> None:
    assert without_item(with_item(None, "read", ITEM), "read", ITEM) is None


@pytest.mark.parametrize("text", ["read: {a: b}\n", "read: |\n  a\n", "read: a  # mine\n", "read:\n", "- a\n", "{"])
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"it is not|one item on each line"):
        with_item(text, "read", ITEM)


def test_an_item_of_another_place_stays() -> None:
    assert without_item("read: [a, b]\n", "read", ITEM) == "read: [a, b]\n"
    assert without_item("read: a\n", "read", ITEM) == "read: a\n"
