"""A service that has just begun answers hooks before its model is loaded, and loads it behind them."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator

import pytest
from tests.daemon.hook_machine import Machine, eventually

from palazzo.client.jsonl import Stream
from palazzo.daemon.engine import Engine
from palazzo.daemon.hook_requests import Hooks
from palazzo.index.embedder import Embedder
from palazzo.operations.context import Context

DECISION = "We decided on a retry budget of ten percent, because storms of retries took the gateway down."
PROMPT = "what did we decide about the retry budget?"


@pytest.fixture
def engine(machine: Machine) -> Iterator[Engine]:
    engine = Engine(machine.palace)
    yield engine
    engine.close()


def ask(hooks: Hooks, machine: Machine, session: str) -> str:
    """Return what a prompt's hook prints."""
    payload = json.dumps({**machine.payload(prompt=PROMPT), "session_id": session}).encode()
    hello = {"host": "claude-code", "event": "UserPromptSubmit", "length": len(payload), "within_ms": 30_000}
    own, other = socket.socketpair()
    with own, other:
        own.sendall(payload)
        hooks.serve(Stream(other), hello)
        other.shutdown(socket.SHUT_WR)
        return own.makefile("rb").read().decode()


def test_a_prompt_is_answered_while_the_model_is_being_loaded(
    machine: Machine, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.note(DECISION)
    with machine.alone() as context:
        context.writing().embed_pending()
    may_load, loaded = threading.Event(), threading.Event()
    open_embedder = Context.open_embedder

    def open_slowly(context: Context, threads: int = 1) -> Embedder:
        assert may_load.wait(60)
        loaded.set()
        return open_embedder(context, threads)

    monkeypatch.setattr(Context, "open_embedder", open_slowly)
    hooks = Hooks(engine, machine.variables)
    try:
        assert DECISION in ask(hooks, machine, "s-1")
        assert engine.pool.is_cold
    finally:
        may_load.set()
    eventually(lambda: not engine.pool.is_cold)
    assert loaded.is_set()
    assert DECISION in ask(hooks, machine, "s-2")


def test_without_vectors_a_palace_counts_as_loaded_after_the_first_attempt(machine: Machine, engine: Engine) -> None:
    machine.note(DECISION)
    assert DECISION in ask(Hooks(engine, machine.variables), machine, "s-1")
    eventually(lambda: not engine.pool.is_cold)
