"""Small programs that tests run as processes of their own, to be killed or to get in one another's way.

`python -m tests.reliability.programs NAME ARGUMENT…`. Each prints a line as soon as what the line says is committed.
Only what a program needs is imported, so that a process is there in a tenth of a second.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def start(name: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a program; its standard output is a pipe."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.reliability.programs", name, *map(str, arguments)],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def say(line: str) -> None:
    """Print a line at once, unbuffered."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def writer(path: str, name: str, count: str) -> None:
    """File rows one by one, each acknowledged when it is committed."""
    from palazzo.archive import identity, ingest
    from palazzo.archive.ingest import NewItem
    from palazzo.archive.ingest_guard import Guard
    from palazzo.derived.cutter import Cutter
    from palazzo.index.consumer import follow
    from palazzo.model import Micros, Place, Source
    from palazzo.store import schema
    from palazzo.store.database import Database

    say("ready")
    database = Database(Path(path))
    schema.migrate(database)
    database.before_commit(lambda connection: follow(connection, Cutter()))
    guard = Guard.of(database)
    source = Source(("session", name), "test", f"file:///{name}", name)
    for n in range(int(count)):
        text = f"row {n} of writer {name}: " + "words that are kept " * (n % 9)
        uid = identity.message_id("test", name, str(n))
        row = NewItem(uid, text, "message", "user" if n % 3 == 0 else "assistant", f"{text}\n".encode(), ordinal=n)
        with database.transaction() as connection:
            ingest.file(
                connection, source, Place("api", "auth"), ingest.prepare([row], guard), Micros(time.time_ns() // 1000)
            )
        say(uid)
    database.close()


def batch_writer(path: str, name: str, batch: str, a_second: str) -> None:
    """File rows in batches, so many a second, until it is ended; say how many are committed."""
    from palazzo.archive import identity, ingest
    from palazzo.archive.ingest import NewItem
    from palazzo.archive.ingest_guard import Guard
    from palazzo.derived.cutter import Cutter
    from palazzo.index.consumer import follow
    from palazzo.model import Micros, Place, Source
    from palazzo.store import schema
    from palazzo.store.database import Database

    database, size = Database(Path(path)), int(batch)
    schema.migrate(database)
    database.before_commit(lambda connection: follow(connection, Cutter()))
    guard, source = Guard.of(database), Source(("session", name), "test", f"file:///{name}", name)
    began, done = time.monotonic(), 0
    while True:
        rows = [
            NewItem(identity.message_id("test", name, str(n)), f"row {n} of {name}", "message", "user",
                   f"row {n}\n".encode(), ordinal=n)
            for n in range(done, done + size)
        ]  # fmt: skip
        with database.transaction() as connection:
            now = Micros(time.time_ns() // 1000)
            ingest.file(connection, source, Place("api", "auth"), ingest.prepare(rows, guard), now)
        done += size
        say(str(done))
        time.sleep(max(0.0, began + done / float(a_second) - time.monotonic()))


def restorer(path: str, file: str) -> None:
    """Restore a backup over a palace; say so when it is there."""
    from palazzo.features.backup.contract import RestoreRequest
    from palazzo.features.backup.restore import restore
    from palazzo.operations.context import Context

    variables = {"HOME": str(Path(path).parent), "PALAZZO_SERVICE": "off"}
    with Context(Path(path), Path(path).parent, variables) as context:
        say("ready")
        restore(context, RestoreRequest(Path(file)))
        say("restored")


def miner(path: str, directory: str) -> None:
    """Mine a directory; say how many items are committed."""
    from palazzo.palace import Palace
    from palazzo.sources.mining_report import MineRequest
    from palazzo.sources.mining_run import mine

    say("ready")
    with Palace.open(Path(path)) as palace:
        report = mine(
            palace.database,
            palace.clock,
            MineRequest((Path(directory),), mode="auto"),
            lambda progress: say(f"items {progress.items}"),
        )
    say(f"done {report.items} {len(report.failed)}")


def reader(path: str, seconds: str, *words: str) -> None:
    """Search again and again; say how many drawers were seen to be live before each search, and found by it."""
    from palazzo.index.query import Query
    from palazzo.palace import Palace

    palace_path = Path(path)
    while not palace_path.exists():
        time.sleep(0.01)
    until = time.monotonic() + float(seconds)
    searches = 0
    with Palace.open(palace_path) as palace:
        while time.monotonic() < until:
            for word in words:
                palace.search(Query(word, limit=100, budget=10_000))
                searches += 1
    say(f"searched {searches}")


def rebuilder(path: str, times: str) -> None:
    """Make everything derived anew, again and again."""
    from palazzo.palace import Palace

    with Palace.open(Path(path)) as palace:
        for n in range(int(times)):
            palace.rebuild("all" if n % 2 else "fts")
            say(f"rebuilt {n}")


def embedder(path: str, name: str, swap: str) -> None:
    """Make vectors with an embedder of that name, after giving up those that are there if `swap` says so."""
    from tests.index.hashed_words import HashedWords

    from palazzo.palace import Palace

    with Palace.open(Path(path), embedder=lambda: HashedWords(name)) as palace:
        if swap == "swap":
            palace.rebuild("vectors")
        say("ready")
        palace.embed_pending(lambda made, _: say(f"made {made}"))
    say("done")


def eraser(path: str, words: str) -> None:
    """Erase words; say so when it is committed, and when the file is cleared of them."""
    from palazzo.archive import erasure
    from palazzo.archive.erasure_request import ErasureRequest
    from palazzo.palace import Palace
    from palazzo.text.hashed_words import ANYWHERE

    with Palace.open(Path(path)) as palace:
        say("ready")
        wanted = ErasureRequest({words: ANYWHERE})
        with palace.database.snapshot() as connection:
            found = erasure.survey(connection, wanted, lambda what, done, total: None)
        palace.erase(wanted, found)
        say("erased")
        palace.finish_erasing()
        say("finished")


def miner_who_answers(path: str, directory: str) -> None:
    """Mine a directory that it fills itself, on and on; meanwhile answer searches: a line of JSON for each."""
    import json
    import threading

    from palazzo.index.query import Query
    from palazzo.palace import Palace
    from palazzo.sources.mining_report import MineRequest
    from palazzo.sources.mining_run import mine

    project, stopped = Path(directory), threading.Event()

    def go_on() -> None:
        n = 0
        with Palace.open(Path(path)) as palace:
            while not stopped.is_set():
                room = project / ("auth", "ops", "look")[n % 3]
                room.mkdir(parents=True, exist_ok=True)
                (room / f"n{n}.md").write_text(f"# Heron{n}\n\nWhat heron{n} does in round {n}.\n")
                mine(palace.database, palace.clock, MineRequest((project,)))
                n += 1

    mining = threading.Thread(target=go_on)
    mining.start()
    with Palace.open(Path(path)) as palace:
        say("ready")
        for line in sys.stdin:
            asked = json.loads(line)
            hits = palace.search(Query(asked["words"], wing=asked["wing"], room=asked["room"], limit=3)).hits
            say(json.dumps([[hit.drawer.id, hit.drawer.place.wing, hit.drawer.place.room] for hit in hits]))
    stopped.set()
    mining.join()


def verifier(path: str, *_: str) -> None:
    """Verify a palace; say what was found, or how it could not even be opened."""
    from tests.index.hashed_words import HashedWords

    from palazzo.derived.integrity_checks import verify
    from palazzo.errors import PalazzoError
    from palazzo.palace import Palace

    for line in sys.stdin:
        try:
            with Palace.open(Path(line.strip()), "read") as palace:
                wrong = [check.name for check in verify(palace.database, HashedWords) if not check.ok]
            say(f"found {','.join(wrong)}" if wrong else "sound")
        except PalazzoError as error:
            say(f"refused {error}".replace("\n", " "))
        except Exception as error:  # noqa: BLE001 - a bug of verify, which the test counts
            say(f"raised {type(error).__name__} {error}".replace("\n", " "))


def follow_failing_mentions(path: str) -> None:
    """Let mentions follow, which fail on some drawers, a few at once."""
    from tests.derived.test_lagging import FailingMentions

    from palazzo.derived import async_consumer
    from palazzo.palace import Palace

    with Palace.open(Path(path)) as palace:
        say("ready")
        async_consumer.follow(palace.database, FailingMentions("poison"))


def caller(path: str, key: str, name: str, request: str, dies: str) -> None:
    """Make a call by its key, and die before it is committed, or after and before it is answered."""
    import json
    import os
    import signal

    from tests.operations.keyed_calls import context

    from palazzo.model import Micros
    from palazzo.operations import idempotency
    from palazzo.operations.registry import operation
    from palazzo.operations.serialisation import from_wire
    from palazzo.store import answered_calls
    from palazzo.store.database import Connection

    keep = answered_calls._keep

    def keep_and_die(connection: Connection, call: answered_calls.Call, result: str, now: Micros, bare: bool) -> None:
        keep(connection, call, result, now, bare)
        os.kill(os.getpid(), signal.SIGKILL)

    if dies == "before the commit":
        answered_calls._keep = keep_and_die
    found = operation(name)
    with context(Path(path)) as surroundings:
        idempotency.call(surroundings, found, from_wire(found.request, json.loads(request)), key)
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
