"""Service client of the command line: a running service, with model and vectors loaded, runs the operation.

The result is the same either way, so if the call to the service fails, the operation runs in this process. If no
service runs, one is started for the next time, without waiting for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from palazzo import errors
from palazzo.client import rpc
from palazzo.errors import PalazzoError, ServiceUnavailable
from palazzo.operations.context import Progress
from palazzo.operations.operation import Operation
from palazzo.operations.serialisation import from_wire, to_wire

if TYPE_CHECKING:
    from palazzo.operations.context import Context

Q = TypeVar("Q")
R = TypeVar("R")


def carried_out(operation: Operation[Q, R], request: Q, context: Context) -> R:
    """Return the operation's result, from the service if one runs; raise what the operation raises."""
    if not context.settings.flag("service") or not context.has_palace:
        return operation.run(context, request)
    endpoint = rpc.address(str(context.palace_path), context.variables)
    try:
        with rpc.Caller(endpoint, context.variables, str(context.cwd), starts=False) as caller:
            caller.connect()
            answer = caller.call(operation.name, to_wire(request), tell=lambda message: _pass_on(message, context))
        if "result" in answer:
            return from_wire(operation.result, answer["result"])
        error = rebuild_error(answer["error"])
        if error is not None:
            raise error
        # A bug shows itself again here, where it can be reported.
    except rpc.GivingWay:
        _start(endpoint, context)
    except ServiceUnavailable:
        if not rpc.is_starting(endpoint):
            _start(endpoint, context)
    return operation.run(context, request)


def rebuild_error(error: Mapping[str, Any]) -> PalazzoError | None:
    """Return the error that the service reports, as it was raised there; None for a bug."""
    kind = getattr(errors, str(error.get("kind")), None)
    if not (isinstance(kind, type) and issubclass(kind, PalazzoError)):
        return None
    exception = kind.__new__(kind)  # some are made of more than their message, which is all that a person is told
    Exception.__init__(exception, str(error.get("message")))
    return exception


def _pass_on(message: Mapping[str, Any], context: Context) -> None:
    if "notice" in message:
        context.notice(str(message["notice"]))
    elif "progress" in message:
        progress = Progress(**message["progress"])
        context.report(progress.what, progress.done, progress.total, progress.detail)


def _start(endpoint: rpc.Address, context: Context) -> None:
    try:
        rpc.start(endpoint, context.variables)
    except ServiceUnavailable:
        return  # `palazzo doctor` says why; the work is done here all the same
