"""The tools that the conformance suite asks servers for, as a profile: one answers, one fails, one reports progress."""

from __future__ import annotations

import time
from typing import Any

import anyio.to_thread

from palazzo.errors import UsageError
from palazzo.faces.mcp.client_calls import OperationCall
from palazzo.faces.mcp.profile import Profile
from palazzo.faces.mcp.progress_reports import REPORT_INTERVAL
from palazzo.operations.agent_tools.tool import Answer, Tool
from palazzo.operations.context import Progress

ANSWERS, FAILS, REPORTS = "status", "audit", "verify"
"""The operations whose place they take."""
_OPERATIONS = {"test_simple_text": ANSWERS, "test_error_handling": FAILS, "test_tool_with_progress": REPORTS}


def _tool(name: str) -> Tool:
    return Tool(name, "Of the suite.", lambda said, given: Answer({"said": said}, said), _OPERATIONS[name])


PROFILE = Profile("suite", "The suite's tools", "Call them.", lambda toolset: tuple(map(_tool, _OPERATIONS)))


async def carry_out(operation_call: OperationCall) -> Any:
    """Do what the suite says of a tool."""
    return await anyio.to_thread.run_sync(_do, operation_call)


def _do(operation_call: OperationCall) -> str:
    if operation_call.operation == FAILS:
        raise UsageError("This tool intentionally returns an error for testing.")
    if operation_call.operation == REPORTS:
        assert operation_call.on_progress is not None
        for done in (0, 50, 100):
            time.sleep(REPORT_INTERVAL * 1.5)  # reports that are closer to each other are not passed on
            operation_call.on_progress(Progress("step", done, 100))
        time.sleep(REPORT_INTERVAL)
    return "This is a simple text response for testing."
