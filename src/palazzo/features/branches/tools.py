"""The tool `diff`: what changed between two times or branches."""

from __future__ import annotations

from palazzo.features.branches.contract import DiffResult
from palazzo.operations.agent_tools import tool_answers
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import NOTICE, TEXT, shape
from palazzo.security.display_names import quoted_name
from palazzo.security.fences import fence_text


def _answer_diff(result: DiffResult, call: CallArguments) -> Answer:
    description = f"learned on {quoted_name(result.tip)} and missing on {quoted_name(result.base)}."
    notice = f"{NOTICE}: {description}"
    text = result.text[: tool_answers.MOST]
    return Answer({"notice": notice, "text": text}, fence_text(f"{notice}\n\n{text}"))


DIFF = Tool(
    name="diff",
    description="List what was learned on a branch that another branch lacks: Markdown for a pull request.",
    arguments=(Argument("branches", "main..feature: the branch to merge into, and the branch."), Argument("wing")),
    answer=_answer_diff,
    output=shape(notice=TEXT, text=TEXT),
)


FULL = (DIFF,)
