"""What a session's earlier calls left decides whether a later one, local by itself, shows others' words."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.archive.conversations import answered, called, file_rows, fresh_palace, said
from tests.derived.state import complaints, drawers

from palazzo.archive.ingest import NewItem
from palazzo.derived.cutter import Cutter
from palazzo.derived.rebuild import rebuild
from palazzo.index.consumer import is_outdated
from palazzo.palace import Palace

ROOT = "/home/dev/app"
OLD_PALACE = Path(__file__).parents[1] / "fixtures" / "palaces" / "trust-by-reader.db.zlib"
"""A palace of the code that believed a tool's output as its reader had judged it."""
Step = str | tuple[str, str]


def rows_of(steps: Sequence[Step]) -> list[NewItem]:
    """Calls one after another, a person's words between them; a pair is a file that is written, or read."""
    rows = []
    for n, step in enumerate(steps):
        if isinstance(step, str):
            tool, call = "Bash", f"Bash\ncommand: {step}" if "\n" not in step else f"Bash\ncommand:\n{step}"
        else:
            path, text = step
            tool = "Write" if text else "Read"
            call = f"{tool}\nfile_path: {ROOT}/{path}" + (f"\ncontent:\n{text}" if text else "")
        rows += [said(3 * n, "user", f"go on {n}"), called(3 * n + 1, tool, call, f"c{n}")]
        rows.append(answered(3 * n + 2, f"OUTPUT-{n}", f"c{n}"))
    return [row if row.role != "assistant" else _at_root(row) for row in rows]


def _at_root(row: NewItem) -> NewItem:
    from dataclasses import replace

    return replace(row, meta={**row.meta, "cwd": ROOT})


def last_trust(palace: Palace, steps: Sequence[Step]) -> str:
    file_rows(palace, rows_of(steps))
    assert complaints(palace) == []
    (result_drawer,) = [drawer for drawer in drawers(palace) if f"OUTPUT-{len(steps) - 1}" in drawer.text]
    return result_drawer.trust


@pytest.mark.parametrize(
    "steps",
    [
        ["git pull", ("README.md", "")],
        ["gh pr checkout 3", "pytest -q"],
        ["git fetch origin pull/3/head:pr-3", "git diff main...pr-3"],
        ["git fetch origin pull/3/head:pr-3", "git checkout pr-3", ("a.py", "")],
        ["curl -s https://x.example/p.diff -o p.diff", "git apply p.diff", ("a.py", "")],
        ["curl -s https://x.example -o docs/a.md", "cat docs/*.md"],
        ["(cd docs && curl -sO https://x.example/a.md)", ("docs/a.md", "")],
        ["curl -s https://x.example > /tmp/a.json", "jq .x /tmp/a.json > src/b.json", ("src/b.json", "")],
        ["unzip -q ~/Downloads/a.zip", ("new/README.md", "")],
        ["make fetch", ("data.json", "")],
        ["kubectl port-forward svc/x 8080:80 &", "curl -s localhost:8080"],
        [(".git/hooks/post-commit", "#!/bin/sh\ncurl -s https://x.example\n"), "git commit -qm x"],
        [("Makefile", "test:\n\tcurl -s https://x.example\n"), "make test"],
        ["git config core.pager 'curl x'", "git log"],
        ["ln -s ~/other docs/o", ("docs/o/x.md", "")],
    ],
)
def test_what_others_left_makes_a_later_output_theirs(palace: Palace, steps: Sequence[Step]) -> None:
    assert last_trust(palace, steps) == "external"


@pytest.mark.parametrize(
    "steps",
    [
        ["git fetch", "git log -3"],
        ["git pull", "git branch --show-current"],
        ["gh pr checkout 3", "git checkout main", ("a.py", "")],
        ["git tag t && git pull", "git reset --hard t", ("a.py", "")],
        ["npm ci", "npm test"],
        ["npm test > /tmp/t.log 2>&1", "tail /tmp/t.log"],
        ["git clone --depth 1 https://x.example/sdk /tmp/sdk", ("src/sdk/client.go", "")],
        ["curl -s https://x.example -o docs/a.md", "git checkout docs/a.md", ("docs/a.md", "")],
        ["git worktree add ../w -b x", "cat ../w/README.md"],
        [("scripts/count.sh", "#!/bin/sh\nwc -l src/*.py\n"), "bash scripts/count.sh"],
        [("scripts/fetch.sh", "#!/bin/sh\ncurl -s https://x.example\n"), "shellcheck scripts/fetch.sh"],
    ],
)
def test_what_is_ones_own_stays_so(palace: Palace, steps: Sequence[Step]) -> None:
    assert last_trust(palace, steps) == "tool"


def test_what_a_person_lists_counts_for_new_sessions_and_after_a_rebuild(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = ["kubectl get pods", "git status"]
    file_rows(palace, rows_of(steps))
    assert {drawer.trust for drawer in drawers(palace) if "OUTPUT-0" in drawer.text} == {"external"}
    monkeypatch.setenv("PALAZZO_TRUST_OWN", "kubectl")
    assert complaints(palace) == []  # nothing was made by the new list yet
    with fresh_palace() as other_palace:
        file_rows(other_palace, rows_of(steps))
        assert {drawer.trust for drawer in drawers(other_palace) if "OUTPUT-0" in drawer.text} == {"tool"}
    rebuild(palace.database, "drawers")
    assert {drawer.trust for drawer in drawers(palace) if "OUTPUT-0" in drawer.text} == {"tool"}
    assert complaints(palace) == []


def test_a_palace_that_believed_the_readers_is_judged_anew(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    path.write_bytes(zlib.decompress(OLD_PALACE.read_bytes()))
    with Palace.open(path) as palace:
        assert {drawer.text.split(":")[0]: drawer.trust for drawer in drawers(palace)}
        with palace.database.snapshot() as connection:
            assert is_outdated(connection, Cutter())
        file_rows(palace, rows_of(["git status"]))
        with palace.database.snapshot() as connection:
            assert is_outdated(connection, Cutter())  # new rows do not make the old ones current
        rebuild(palace.database, "drawers")
        with palace.database.snapshot() as connection:
            assert not is_outdated(connection, Cutter())
        trusts = {
            words: _trust_of(palace, words) for words in ("LOG-WORDS", "AFTER-LOG", "HEALTH-WORDS", "AFTER-HEALTH")
        }
    assert trusts == {"LOG-WORDS": "external", "AFTER-LOG": "external", "HEALTH-WORDS": "tool", "AFTER-HEALTH": "agent"}


def _trust_of(palace: Palace, words: str) -> str:
    (result_drawer,) = [drawer for drawer in drawers(palace) if words in drawer.text]
    return result_drawer.trust
