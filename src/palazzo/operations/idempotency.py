"""Idempotency keys: the one function through which a face with a key for a call runs an operation.

A face that does not receive the answer to a call repeats the call with the same key. What the call wrote is committed
together with its answer. So the repeated call returns the first answer, and nothing is written twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from typing import TYPE_CHECKING, TypeVar

from palazzo.errors import PalazzoError, UsageError
from palazzo.operations import damage
from palazzo.operations.serialisation import from_wire, to_wire
from palazzo.store import answered_calls
from palazzo.store.answered_calls import Call, MadeMeanwhile

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.operations.operation import Operation
    from palazzo.store.answered_calls import Answer, CallRecord
    from palazzo.store.database import Database

Q = TypeVar("Q")
R = TypeVar("R")


def call(context: Context, operation: Operation[Q, R], request: Q, key: str | None) -> R:
    """Run `operation` once for `key`: a repeated call with a known key returns the first result, whoever made it.

    Without a key, or if the operation only reads or commits in steps, it simply runs. Raises what the operation raises;
    then nothing was written. Raises UsageError for a key that was used for another call, and NotAPalace in place of a
    bug that a damaged page of the palace caused.
    """
    with damage.translate_damage_errors(context):
        return _call(context, operation, request, key)


def _call(context: Context, operation: Operation[Q, R], request: Q, key: str | None) -> R:
    if key is None or not operation.writes or operation.steps:
        return operation.run(context, request)

    keyed_call = Call(key, operation.name, _hash(operation, request))
    earlier_call = _find_call(context, keyed_call)
    if earlier_call is not None and not earlier_call.is_interrupted:
        return _replay_answer(operation, keyed_call, earlier_call)
    context.interrupted_at = None if earlier_call is None else earlier_call.at
    try:
        return _run_call(context, operation, request, keyed_call)
    except MadeMeanwhile as made:
        return _replay_answer(operation, keyed_call, made.known)
    finally:
        context.interrupted_at = None


def _hash(operation: Operation[Q, R], request: Q) -> bytes:
    canonical = json.dumps([operation.name, to_wire(request)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).digest()


def _find_call(context: Context, keyed_call: Call) -> CallRecord | None:
    if not context.has_palace:
        return None
    with context.reading().database.snapshot() as connection:
        return answered_calls.find(connection, keyed_call)


def _run_call(context: Context, operation: Operation[Q, R], request: Q, keyed_call: Call) -> R:
    """Run the operation; its writes are held back from the moment when it first opens the palace for writing."""
    answers: list[Answer] = []
    with contextlib.ExitStack() as until_done:

        def keep_back(database: Database) -> None:
            if not answers:
                answers.append(until_done.enter_context(answered_calls.record_call(database, keyed_call, context.now)))

        context.on_writing = keep_back
        try:
            result = operation.run(context, request)
        finally:
            context.on_writing = None
        for answer in answers:
            answer.is_(json.dumps(to_wire(result), separators=(",", ":")))
    return result


def _replay_answer(operation: Operation[Q, R], keyed_call: Call, earlier_call: CallRecord) -> R:
    if (
        earlier_call.request_hash not in (None, keyed_call.request_hash)
        or earlier_call.operation != keyed_call.operation
    ):
        raise UsageError("The key of this call was used for another call. Give each call its own key.")
    if earlier_call.result is None:
        raise PalazzoError(
            "This call was carried out before, but its result was removed with words that were erased since. Check "
            "the present state instead of repeating the call."
        )
    return from_wire(operation.result, json.loads(earlier_call.result))
