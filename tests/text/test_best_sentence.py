"""The sentence of a text that says most of what was asked."""

from __future__ import annotations

import pytest

from palazzo.text.best_sentence import find_best_sentence, split_blocks

DOCUMENT = """# The gateway port

| gateway | port |
|---|---|
| a | 1 |

Everything else is said in the other page, which describes all of the settings of
the gateway. It listens on port 8443, for all
clients.

- The port of tests is 9000.
```
port = 8443
```
"""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"listens", "port"}, "It listens on port 8443, for all"),
        ({"tests"}, "The port of tests is 9000."),
        ({"nothing"}, "| gateway | port |"),
        (
            {"settings", "page"},
            "Everything else is said in the other page, which describes all of the settings of\nthe gateway.",
        ),
    ],
)
def test_the_sentence_with_most_of_the_words_is_found_where_it_stands(words: set[str], sentence: str) -> None:
    best, _ = find_best_sentence(DOCUMENT, words)
    assert DOCUMENT[best.start : best.end] == sentence


def test_a_heading_is_found_only_if_nothing_below_it_says_as_much() -> None:
    assert find_best_sentence("# Ports\n\nNothing of it.", {"ports"})[0].text == "Ports"
    assert find_best_sentence("# Ports\n\nAll ports are open.", {"ports"})[0].text == "All ports are open."


REST = """The quoting of commands
~~~~~~~~~~~~~~~~~~~~~~~

The server listens on the address
<https://example.org/a/rather/long/address/of/a/page>`__ and answers there.

   - On some platforms the port of the server is read from
     :envvar:`PORT`, as the text of the page says, or from the
     file of settings.

.. code-block:: port

Run it with this line, which waits until the port is open for everybody::

    serve --port 8443 | grep the port of the server that is started by hand
    wait
"""


@pytest.mark.parametrize(
    ("words", "begins", "ends"),
    [
        ({"quoting"}, "The quoting of", "commands"),
        ({"listens", "address"}, "The server listens on the address <https:", "and answers there."),
        (
            {"platforms", "settings"},
            "On some platforms the port of the server is read from :envvar:`PORT`",
            "settings.",
        ),
        ({"serve", "8443"}, "serve --port 8443", "by hand"),
        ({"block", "code"}, "code-block::", "port"),
        ({"nothing"}, "The server listens on the address <https:", "and answers there."),
    ],
)
def test_prose_is_joined_below_a_heading_that_is_underlined(words: set[str], begins: str, ends: str) -> None:
    shown = " ".join(find_best_sentence(REST, words)[0].text.split())
    assert (shown.startswith(begins), shown.endswith(ends)) == (True, True)
    kinds = [block.kind for block in split_blocks(REST)]
    assert kinds == ["heading", "prose", "prose", "heading", "prose", "line", "line"]


def test_a_block_between_rows_of_tildes_is_code() -> None:
    text = "Run it, and wait until it has ended, which takes a moment:\n~~~\nserve\n~~~\nThen it is open."
    assert [(text[b.start : b.end], b.kind) for b in split_blocks(text)][1:] == [
        ("serve", "line"),
        ("Then it is open.", "prose"),
    ]


def test_lines_of_code_are_not_joined() -> None:
    code = "def connect(host, port):\n    return open_socket(host, port, timeout=30, retries=5)\n"
    assert [code[block.start : block.end] for block in split_blocks(code, is_prose=False)] == code.splitlines()


@pytest.mark.parametrize("text", ["", " \n\n", "```", "---", "one"])
def test_every_text_has_a_best_sentence(text: str) -> None:
    best, _ = find_best_sentence(text, {"x"})
    assert best.text == text.strip()
