"""Which command lines print what a memory holds, and nothing else."""

from __future__ import annotations

import pytest

from palazzo.security.memory_commands import tells_memory


@pytest.mark.parametrize(
    "command",
    [
        'palazzo search "why did we double the retries"',
        "palazzo wake-up --wing shop",
        "palazzo show 3f2a --context 2 --json",
        "palazzo --palace /srv/team.db search port",
        "/home/dev/.local/bin/palazzo kg query deploy --as-of 2026-01-01",
        "palazzo.exe diary read claude",
        "python3 -m palazzo search port",
        "PYTHONPATH=src uv run palazzo search port",
        "timeout 20 palazzo proactive-context 'the port'",
        "mempalace search port",
        "bash -lc 'palazzo search port'",
        "cd /srv/shop && palazzo search port 2>&1 | head -40",
        "palazzo search port 2>/dev/null || true",
        'palazzo search "a | b && c" --limit 3',
        'palazzo search "two\nlines"',
        "palazzo search port --json | jq -r '.hits[].text' | sort -r | uniq",
        "palazzo search port | grep -i -A 3 proxy",
        "palazzo search port | sed -n 1,40p",
        "palazzo search port \\\n  --limit 3",
        "# what was said\necho '--- port'; palazzo search port\necho '--- proxy'; palazzo search proxy",
        "palazzo search port | tee found.txt",
        "palazzo search `git branch --show-current`",
    ],
)
def test_what_only_prints_a_memorys_words_is_known(command: str) -> None:
    assert tells_memory(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "palazzo",
        "palazzo doctor",
        "palazzo status",
        "palazzo mine .",
        "palazzo remember 'search for the port'",
        "palazzo verify --json",
        "palazzolo search port",
        "grep -rn 'palazzo search' docs",
        "cat notes/palazzo search.md",
        "echo palazzo search port",
        "palazzo search port; ls",
        "palazzo search port && pytest -q",
        "git log --oneline | head; palazzo search port",
        "palazzo search port | grep proxy nginx.conf",
        "palazzo search port | grep -r proxy",
        "palazzo search port | xargs cat",
        "palazzo search port | python3 summarise.py",
        "palazzo search port > found.txt; cat found.txt",
        "palazzo search port & make",
        "(palazzo search port; make)",
        'echo "$(make)"; palazzo search port',
        "palazzo search port <<EOF",
        "diff <(palazzo search port) notes.md",
        "for one in port proxy; do palazzo search $one; make; done",
        "bash -lc 'palazzo search port; make'",
        "ssh box palazzo search port",
        "palazzo search " + "x" * 5_000,
    ],
)
def test_what_may_print_anything_else_is_not(command: str) -> None:
    assert not tells_memory(command)
