"""R5: bits flip and files are cut. The interpreter never crashes, and `verify` finds what was changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest
from tests.archive.conversations import PLACE, Ticking, answered, called, file_rows, file_version, said
from tests.index.hashed_words import HashedWords
from tests.reliability.programs import ROOT, start
from tests.reliability.sizes import chances, scaled

from palazzo.palace import Palace

pytestmark = pytest.mark.slow

DAMAGES = 1_000
LEAST_FOUND = 0.99


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A palace of some two megabytes with all kinds of rows, its log folded in."""
    path = tmp_path_factory.mktemp("sound") / "palace.db"
    words = [f"word{n}" for n in range(3000)]
    chance = chances("words")
    with Palace.open(path, embedder=HashedWords, clock=Ticking()) as palace:
        rows = []
        for n in range(600):
            text = " ".join(chance.choices(words, k=chance.randrange(5, 160)))
            role = "user" if n % 4 == 0 else "assistant"
            rows.append(said(n, "user" if role == "user" else "assistant", text))
        file_rows(palace, rows, 50)
        file_rows(palace, [called(700, "Bash", "make", "c"), answered(701, "ERROR: no rule\n" * 200, "c")])
        for n in range(20):
            file_version(palace, f"# Document\n\nversion {n} " + " ".join(chance.choices(words, k=300)))
            palace.remember("note " + " ".join(chance.choices(words, k=50)), PLACE, tags=["kept"])
        palace.embed_pending()
    connection = apsw.Connection(str(path))
    connection.execute("VACUUM")  # free pages hold nothing: damage there changes no row, and no check can see it
    connection.close()
    return path


@dataclass(frozen=True)
class Outcome:
    """What a verifier said of a damaged copy, and in which tables a reader reads something else than before."""

    damage: str
    answer: str
    changed: frozenset[str]

    @property
    def found(self) -> bool:
        return not self.answer.startswith("sound")


ARCHIVED = {"item": "*", "pack": "id, size, layout, body", "link": "*"}
"""What the chain vouches for."""


def content(path: Path) -> dict[str, object]:
    """Every row of every table, or the error that reading them gives."""
    found: dict[str, object] = {}
    connection = apsw.Connection(f"{path.as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | 0x40)
    try:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        for table in tables:
            if table not in ("keyword", "keyword_vocabulary"):
                rows = connection.execute(f'SELECT {ARCHIVED.get(table, "*")} FROM "{table}"').fetchall()
                found[table] = hash(tuple(rows))
    except (apsw.Error, UnicodeDecodeError) as error:
        found["error"] = str(error)
    finally:
        connection.close()
    return found


def flipped(raw: bytearray, random: Callable[[int], int]) -> str:
    at, bit = random(len(raw)), random(8)
    raw[at] ^= 1 << bit
    return f"bit {bit} of byte {at}"


def cut(raw: bytearray, random: Callable[[int], int]) -> str:
    size = random(len(raw))
    del raw[size:]
    return f"cut to {size}"


def overwritten(raw: bytearray, random: Callable[[int], int]) -> str:
    at = random(len(raw) // 4096) * 4096
    raw[at : at + 512] = bytes(512)
    return f"512 zeros at {at}"


class Verifier:
    """A process that verifies palaces, started anew when it dies."""

    def __init__(self) -> None:
        self.crashes: list[int] = []
        self._process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        return start("verifier", "-")

    def ask(self, path: Path) -> str:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{path}\n")
        stdin.flush()
        answer = stdout.readline().strip()
        if not answer:
            self.crashes.append(self._process.wait())
            self._process = self._start()
            return "crashed"
        return answer

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture
def verifier() -> Iterator[Verifier]:
    running = Verifier()
    yield running
    running.close()


@pytest.mark.parametrize("damage", [flipped, cut, overwritten], ids=["flip", "cut", "zeros"])
def test_damage_crashes_nothing_and_that_of_archived_words_is_found(
    sound: Path,
    tmp_path: Path,
    verifier: Verifier,
    damage: Callable[[bytearray, Callable[[int], int]], str],
) -> None:
    chance, original, before = chances(f"damage {damage.__name__}"), sound.read_bytes(), content(sound)
    assert verifier.ask(sound) == "sound"
    outcomes = []
    for n in range(scaled(DAMAGES if damage is flipped else DAMAGES // 2)):
        raw = bytearray(original)
        what = damage(raw, chance.randrange)
        path = tmp_path / f"{n}" / "palace.db"
        path.parent.mkdir()
        path.write_bytes(raw)
        answer = verifier.ask(path)
        after = content(path)
        changed = frozenset(table for table in before.keys() | after.keys() if before.get(table) != after.get(table))
        outcomes.append(Outcome(what, answer, changed))
        shutil.rmtree(path.parent)
    assert verifier.crashes == []
    assert [outcome for outcome in outcomes if outcome.answer.startswith("raised")] == []
    missed = [outcome for outcome in outcomes if not outcome.found]
    assert [outcome for outcome in missed if outcome.changed & ARCHIVED.keys()] == []
    tables = Counter(table for outcome in missed for table in outcome.changed)
    found = len(outcomes) - len(missed)
    print(
        f"{damage.__name__}: {found} of {len(outcomes)} found; missed: {[one.damage for one in missed]} {dict(tables)}"
    )
    assert found >= LEAST_FOUND * len(outcomes)


CUT_WHILE_OPEN = """
import os, sys
from pathlib import Path
from palazzo.errors import PalazzoError
from palazzo.palace import Palace
path = Path(sys.argv[1])
with Palace.open(path, "read") as palace:
    try:
        with palace.database.snapshot() as connection:
            list(connection.execute("SELECT count(*) FROM item"))
            os.truncate(path, 50_000)
            list(connection.execute("SELECT sum(length(meta)), sum(length(author)) FROM item"))
    except PalazzoError:
        pass
print("alive")
"""


def test_a_file_that_is_cut_while_it_is_read_does_not_kill_its_reader(sound: Path, tmp_path: Path) -> None:
    """As when somebody copies another file over it."""
    path = tmp_path / "palace.db"
    shutil.copy(sound, path)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    ran = subprocess.run(
        [sys.executable, "-c", CUT_WHILE_OPEN, str(path)], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout) == (0, "alive\n"), ran.stderr
