"""The warm process, as clients meet it: real processes, real sockets, real kills."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.conftest import User, is_alive, wait_until
from tests.faces.cli.command import SOURCES

from palazzo.client import rpc
from palazzo.client.jsonl import LONGEST_LINE, Stream
from palazzo.client.rpc import Caller, GivingWay
from palazzo.errors import ServiceUnavailable
from palazzo.features.service.background_process import was_called_lately
from palazzo.features.service.service_state import log_file
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.store.database import Database

STARTER = (
    "import os, sys; sys.path.append(sys.argv[1]); from palazzo.client import rpc as client;"
    "where = client.address(sys.argv[2], os.environ);"
    "stream = client.ensure_service(where, os.environ, {'want': 'calls', 'any': True});"
    "print(client.greet(where, {'want': 'state'})[1]['pid'])"
)


def remember(caller: Caller, text: str, key: str | None = None) -> Any:
    answer = caller.call("remember", {"text": text}, key)
    assert "result" in answer, answer
    return answer["result"]


def texts(caller: Caller, query: str) -> list[str]:
    answer = caller.call("search", {"query": query, "limit": 100})
    assert "result" in answer, answer
    return [hit["text"] for hit in answer["result"]["hits"]]


def notes(palace: Path) -> list[str]:
    """The words of every note in the file."""
    from palazzo.store import items

    database = Database(palace, "read")
    with database.snapshot() as connection:
        rows = [row for (row,) in connection.execute("SELECT id FROM item")]
        found = items.read_texts(connection, rows)
    database.close()
    return sorted(found.values())


# --- one, for its user alone ---------------------------------------------------------------------------------------


def test_twenty_who_start_one_at_once_meet_the_same(user: User) -> None:
    def start(_: int) -> int:
        command = [sys.executable, "-I", "-S", "-c", STARTER, SOURCES, str(user.palace)]
        done = subprocess.run(command, env=user.variables, capture_output=True, text=True, check=True)
        return int(done.stdout)

    with ThreadPoolExecutor(20) as together:
        pids = set(together.map(start, range(20)))
    user.started |= pids
    assert len(pids) == 1
    assert pids == {user.pid()}


def test_its_socket_is_its_users_alone(shared: User) -> None:
    shared.caller().close()
    where = shared.address()
    assert Path(where.socket).stat().st_mode & 0o777 == 0o600
    assert Path(where.lock).stat().st_mode & 0o777 == 0o600
    assert Path(where.directory).stat().st_mode & 0o777 == 0o700
    own = [path.suffix for path in Path(where.directory).iterdir() if path.stem == Path(where.socket).stem]
    assert sorted(own) == [".lock", ".sock"]


def test_it_has_nothing_of_who_started_it(shared: User, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    shared.caller().close()
    pid = shared.pid()
    assert os.getsid(pid) != os.getsid(0)
    assert int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) != os.getpid()
    assert Path(f"/proc/{pid}/cwd").resolve() in (shared.palace.parent, Path("/"))
    assert {str(Path(f"/proc/{pid}/fd/{number}").readlink()) for number in (0, 1, 2)} == {os.devnull}
    os.close(writing)
    assert os.read(reading, 1) == b""
    os.close(reading)


def test_two_palaces_have_two(user: User) -> None:
    one, two = user.home / "one.db", user.home / "two.db"
    with user.caller(one) as first, user.caller(two) as second:
        remember(first, "the first palace has this")
        remember(second, "the second palace has that")
        assert texts(first, "palace has") == ["the first palace has this"]
        assert texts(second, "palace has") == ["the second palace has that"]
    assert user.pid(one) != user.pid(two)


# --- calls -----------------------------------------------------------------------------------------------------------


def test_a_call_is_answered_as_the_operation_answers_it(shared: User) -> None:
    with shared.caller() as caller:
        noted = remember(caller, "The relay listens on port 9000.", "a key")
        assert remember(caller, "The relay listens on port 9000.", "a key") == noted
        assert texts(caller, "which port does the relay listen on") == ["The relay listens on port 9000."]
        error = caller.call("remember", {"text": "Something else."}, "a key")["error"]
        assert error["kind"] == "UsageError"
        assert "key" in error["message"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"nonsense", "is not valid JSON"),
        (b"[1]", "one JSON object"),
        (b'{"id": 1, "operation": "nonsense"}', "no operation 'nonsense'"),
        (b'{"id": 1, "operation": ["search"]}', "no operation"),
        (b'{"id": 1, "operation": "watch"}', "no operation 'watch'"),
        (b'{"id": 1, "operation": "service_stop"}', "no operation 'service_stop'"),
        (b'{"id": 1, "operation": "search"}', "query"),
        (b'{"id": 1, "operation": "search", "request": {"query": 3}}', "query"),
        (b'{"id": 1, "operation": "search", "request": {"query": "a", "colour": 3}}', "colour"),
        (b'{"id": 1, "operation": "status", "surroundings": 3}', "surroundings"),
        (b'{"id": 1, "operation": "status", "surroundings": {"variables": {"A": 3}}}', "variables"),
        (b'{"id": 1, "operation": "status", "key": 3}', "key"),
        (b"\xff\xfe", "is not valid JSON"),
    ],
)
def test_what_is_no_call_is_told_so_and_costs_no_other(shared: User, line: bytes, told: str) -> None:
    shared.caller().close()
    with rpc.connect(shared.address(), {"want": "calls"}) as stream:
        stream.send_line(line)
        answer = stream.read()
        assert answer is not None
        assert told in answer["error"]["message"]
        stream.send({"id": 2, "operation": "settings", "request": {}})
        answer = stream.read()
        assert answer is not None
        assert answer["id"] == 2
        assert "result" in answer


def test_calls_of_one_connection_are_carried_out_side_by_side(shared: User) -> None:
    with shared.caller() as caller:
        remember(caller, "Something to look at.")
    with rpc.connect(shared.address(), {"want": "calls"}) as stream:
        for n in range(100):
            stream.send({"id": n, "operation": "search", "request": {"query": f"something {n}"}})
        answered = [stream.read() for _ in range(100)]
    assert sorted(answer["id"] for answer in answered if answer and "result" in answer) == list(range(100))


def test_twenty_megabytes_pass_and_a_longer_line_than_may_be_costs_no_other(shared: User) -> None:
    shared.caller().close()
    with rpc.connect(shared.address(), {"want": "calls"}) as stream:
        stream.send({"id": 1, "operation": "search", "request": {"query": "x" * 20_000_000}})
        answer = stream.read()
        assert answer is not None
        assert answer["id"] == 1
        sending = threading.Thread(target=stream.send_line, args=(b"x" * (LONGEST_LINE + 2_000_000),))
        sending.start()
        answer = stream.read()
        assert answer is not None
        assert f"{LONGEST_LINE:,}" in answer["error"]["message"]
        sending.join()
        stream.send({"id": 2, "operation": "settings", "request": {}})
        answer = stream.read()
        assert answer is not None
        assert "result" in answer


def test_a_client_that_vanishes_leaves_all_of_a_write_or_nothing(shared: User) -> None:
    shared.caller().close()
    for n in range(20):
        stream = rpc.connect(shared.address(), {"want": "calls"})
        stream.send({"id": n, "operation": "remember", "request": {"text": f"vanishing note {n}"}})
        stream.close()
    with shared.caller() as caller:
        wait_until(lambda: int(shared.greet("state")["state"]["running"]) == 0)
        verified = caller.call("verify", {})["result"]
        assert verified["ok"]


def test_a_missing_palace_is_missing_to_a_reader_and_made_by_a_writer(user: User) -> None:
    with user.caller() as caller:
        assert caller.call("search", {"query": "anything"})["error"]["kind"] == "PalaceMissing"
        assert not user.palace.exists()
        remember(caller, "the first words")
        assert texts(caller, "words") == ["the first words"]


def test_a_palace_that_was_replaced_is_read_anew(user: User) -> None:
    with user.caller() as caller:
        remember(caller, "words of the palace that was")
        with Palace.open(user.home / "other.db") as other:
            other.remember("words of the palace that came", Place("a", "b"))
        for log in user.palace.parent.glob("palace.db-*"):
            log.unlink()
        (user.home / "other.db").rename(user.palace)
        assert texts(caller, "words") == ["words of the palace that came"]
        user.palace.unlink()
        assert caller.call("search", {"query": "words"})["error"]["kind"] == "PalaceGone"


def test_what_another_process_wrote_is_seen_by_the_next_call(shared: User) -> None:
    with shared.caller() as caller:
        remember(caller, "so that there is a palace")
        with Palace.open(shared.palace) as palace:
            palace.remember("Written elsewhere.", Place("a", "b"))
        assert "Written elsewhere." in texts(caller, "written elsewhere")


def test_its_log_has_no_words_of_the_memory(shared: User) -> None:
    with shared.caller() as caller:
        remember(caller, "xylophone quixotic")
        caller.call("search", {"query": "zeppelin brouhaha"})
        caller.call("show", {"id": "gobbledygook"})
    log = log_file(shared.palace, shared.variables)
    told = log.read_text()
    assert "remember" in told
    assert "NotFound" in told
    for word in ("xylophone", "zeppelin", "gobbledygook"):
        assert word not in told
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("first", [b"", b"\n", b"nonsense\n", b'{"palazzo": 2}\n', b'{"palazzo": 1, "want": "tea"}\n'])
def test_who_is_no_client_is_sent_away(shared: User, first: bytes) -> None:
    shared.caller().close()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(shared.address().socket)
        connection.sendall(first)
        connection.shutdown(socket.SHUT_WR)
        told = connection.recv(4096)
    assert not told or json.loads(told)["ok"] is False
    shared.pid()


def test_who_embeds_beside_it_knows_that_calls_come_in(shared: User) -> None:
    shared.caller().close()
    lock = Path(shared.address().lock)
    os.utime(lock, (1, 1))
    assert not was_called_lately(shared.palace, shared.variables)
    with rpc.connect(shared.address(), {"want": "calls"}) as stream:

        def noted() -> bool:
            stream.send({"id": 1, "operation": "settings", "request": {}})
            stream.read()
            return was_called_lately(shared.palace, shared.variables)

        wait_until(noted)


# --- MCP -------------------------------------------------------------------------------------------------------------


def mcp(user: User) -> Stream:
    """A client of the MCP server, initialised."""
    hello = {"want": "mcp", "surroundings": rpc.surroundings(str(user.home), user.variables)}
    stream = rpc.connect(user.address(), hello)
    told = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}}
    stream.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": told})
    answer = stream.read()
    assert answer is not None
    assert answer["result"]["serverInfo"]["name"]
    stream.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return stream


def test_an_agents_connection_calls_the_same_operations(shared: User) -> None:
    with shared.caller() as caller:
        remember(caller, "The kettle is blue.")
    with mcp(shared) as stream:
        asked = {"name": "search", "arguments": {"query": "which colour is the kettle"}}
        stream.send({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": asked})
        answer = stream.read()
        assert answer is not None
        assert answer["id"] == "a"
        assert "The kettle is blue." in json.dumps(answer["result"]["structuredContent"])
        stream.send_line(b"x" * (LONGEST_LINE + 10))
        refused = stream.read()
        assert refused is not None
        assert f"{LONGEST_LINE:,}" in refused["error"]["message"]
        stream.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert stream.read() == {"jsonrpc": "2.0", "id": 1, "result": {}}


# --- its end ---------------------------------------------------------------------------------------------------------


def test_a_newer_client_has_a_new_one_and_nothing_that_was_asked_is_lost(user: User) -> None:
    with ExitStack() as until_done, user.caller() as caller:
        remember(caller, "so that there is a palace")
        old = user.pid()
        agent = until_done.enter_context(mcp(user))
        database = Database(user.palace)
        with ThreadPoolExecutor(1) as beside:
            with database.transaction() as connection:
                connection.execute("DELETE FROM meta WHERE key = 'nothing'")
                waiting = beside.submit(remember, caller, "asked of the old one", "the key")
                wait_until(lambda: user.greet("state")["state"]["running"] == 1)
                hello = {"want": "calls", "version": "999.0"}
                with pytest.raises(GivingWay):
                    rpc.connect(user.address(), hello)
                assert not Path(user.address().socket).exists()
                with rpc.ensure_service(user.address(), user.variables, hello):
                    new = user.pid()
                assert new != old
                assert is_alive(old)
                with suppress(ConnectionResetError):  # the end, if something of the agent's was not read yet
                    assert agent.read() is None
            assert waiting.result()["id"]
        database.close()
        wait_until(lambda: not is_alive(old))
        assert texts(caller, "asked of the old one")[0] == "asked of the old one"
        assert user.pid() == new


def test_an_older_client_is_served_by_the_newer(shared: User) -> None:
    shared.caller().close()
    before = shared.pid()
    with rpc.connect(shared.address(), {"want": "calls", "version": "0.0.1", "build": "1.1"}) as stream:
        stream.send({"id": 1, "operation": "settings", "request": {}})
        assert "result" in (stream.read() or {})
    assert shared.pid() == before


def test_told_to_end_it_finishes_and_leaves_nothing(user: User) -> None:
    with user.caller() as caller:
        remember(caller, "some words")
        pid = user.pid()
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not is_alive(pid))
        assert not Path(user.address().socket).exists()
        with pytest.raises(ServiceUnavailable):
            user.greet("state")
        assert texts(caller, "words") == ["some words"]  # of the next one
        assert user.pid() != pid


def serving_pid(user: User) -> int:
    """Return the process that serves; on a busy machine it may not answer at once."""
    for _ in range(30):
        try:
            return user.pid()
        except ServiceUnavailable:
            time.sleep(0.1)
    return user.pid()


def kill_while_called(user: User, kills: int, writers: int) -> None:
    """Kill the service again and again while clients write; each write that was acknowledged is there, once."""
    acknowledged: list[str] = []
    done = threading.Event()
    rng = random.Random(7)

    def write(writer: int) -> None:
        with user.caller() as caller:
            n = 0
            while not done.is_set():
                text = f"writer {writer} note {n}"
                remember(caller, text, str(uuid.UUID(int=rng.getrandbits(128))))
                acknowledged.append(text)
                n += 1

    with ThreadPoolExecutor(writers) as together:
        writing = [together.submit(write, n) for n in range(writers)]
        try:
            for _ in range(kills):
                count_before = len(acknowledged)
                wait_until(lambda count_before=count_before: len(acknowledged) > count_before + rng.randrange(1, 8))  # type: ignore[misc]
                os.kill(serving_pid(user), signal.SIGKILL)
            wait_until(lambda: len(acknowledged) > 20)
        finally:
            done.set()  # or the writers would go on for ever
        for one in writing:
            one.result()
    assert notes(user.palace) == sorted(acknowledged)


def test_killed_it_keeps_each_acknowledged_write_once(user: User) -> None:
    kill_while_called(user, kills=1, writers=2)


@pytest.mark.slow
def test_killed_thirty_times_it_keeps_each_acknowledged_write_once(user: User) -> None:
    kill_while_called(user, kills=30, writers=4)


@pytest.mark.slow
def test_idle_it_ends_by_itself(user: User) -> None:
    user.variables["PALAZZO_SERVICE_IDLE_MINUTES"] = "0"
    with user.caller() as caller:
        remember(caller, "some words")
        pid = user.pid()
        threading.Event().wait(12)
        assert is_alive(pid)  # somebody is connected
    wait_until(lambda: not is_alive(pid), 120)
    assert not Path(user.address().socket).exists()


@pytest.mark.slow
def test_it_ends_when_its_socket_was_removed(user: User) -> None:
    user.caller().close()
    pid = user.pid()
    Path(user.address().socket).unlink()
    wait_until(lambda: not is_alive(pid), 30)
    user.caller().close()
    assert user.pid() != pid
