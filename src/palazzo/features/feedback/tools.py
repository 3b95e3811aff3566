"""The tool by which agents judge what they were given."""

from __future__ import annotations

from palazzo.features.feedback.contract import FeedbackResult
from palazzo.operations.agent_tools.tool import ADDS, Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import shape


def _answer_feedback(result: FeedbackResult, call: CallArguments) -> Answer:
    return Answer({"drawers": list(result.drawers)}, f"{result.verdict}: {', '.join(result.drawers)}")


FEEDBACK = Tool(
    name="feedback",
    operation="feedback",
    description="Judge a hit: search ranks by it.",
    arguments=(Argument("id"), Argument("verdict")),
    hints=ADDS,
    fields=lambda given: {"by": given.host},
    answer=_answer_feedback,
    output=shape(),
)

CORE = (FEEDBACK,)
FULL = (FEEDBACK,)
