"""A process is killed while it makes a call that has a key. Made again, the call was done once and is answered."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import pytest
from tests.operations.keyed_calls import CALLS, Ids, context, furnish, rows, run
from tests.reliability.programs import start

from palazzo.operations.idempotency import call
from palazzo.operations.registry import operation
from palazzo.operations.serialisation import to_wire

EVERYDAY = "remember"
"""The one that is killed in the everyday tests, too."""

NAMES = [one if one == EVERYDAY else pytest.param(one, marks=pytest.mark.slow) for one in CALLS]


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ids]:
    path = tmp_path_factory.mktemp("furnished") / "palace.db"
    return path, furnish(path)


@pytest.mark.parametrize("dies", ["before the commit", "before the answer"])
@pytest.mark.parametrize("name", NAMES)
def test_a_call_whose_process_was_killed_is_done_once(
    name: str, dies: str, furnished: tuple[Path, Ids], tmp_path: Path
) -> None:
    path, plain = (Path(shutil.copy(furnished[0], tmp_path / kind)) for kind in ("palace.db", "plain.db"))
    found = operation(name)
    request = found.request(**CALLS[name](furnished[1]))
    before = rows(path)
    run(plain, name, CALLS[name](furnished[1]))

    killed = start("caller", path, "one", name, json.dumps(to_wire(request)), dies)
    _, told = killed.communicate()
    assert killed.returncode == -signal.SIGKILL, told
    assert rows(path) == (before if dies == "before the commit" else rows(plain))

    answers = []
    for _ in range(2):
        with context(path) as surroundings:
            answers.append(call(surroundings, found, request, "one"))
    assert answers[0] == answers[1]
    assert rows(path) == rows(plain)
