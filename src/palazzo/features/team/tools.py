"""Tools to read what a team shares. To share is a person's decision, so no tool does it."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.features.team.contract import TeamHitView, TeamSearchResult, TeamStatusResult
from palazzo.operations.agent_tools import tool_answers
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments, Step, Tool
from palazzo.operations.agent_tools.tool_answers import ENTRIES, LIST, NOTICE, TEXT, Entry, shape
from palazzo.security.display_names import name_teammate, plain_name, shown_place


def _entry(hit: TeamHitView) -> Entry:
    return Entry(
        hit.id,
        tool_answers.minute(hit.created_at),
        " · ".join(filter(None, (shown_place(f"{hit.wing}/{hit.room}"), plain_name(hit.title)))),
        name_teammate(hit.person, hit.author),
        hit.trust,
        hit.text,
    )


def _ask(call: CallArguments) -> list[Step]:
    fields = {name: value for name, value in call.arguments.items() if value is not None}
    return [Step("team_search", fields, if_refused=lambda error: TeamSearchResult((), str(error)))]


def _answer_search(results: Sequence[TeamSearchResult], call: CallArguments) -> Answer:
    (result,) = results
    if not result.hits:
        notice = result.problem or "Nothing found in the wings that teammates share with you."
        return Answer({"notice": notice, "hits": []}, notice)
    return tool_answers.answer_entries(f"{NOTICE}, of teammates: best first.", [_entry(hit) for hit in result.hits])


SEARCH = Tool(
    name="team_search",
    description="Find what teammates share, on the team's server. `search` finds what this memory has.",
    arguments=(
        Argument("query", "Your own words, names, a path or an exact error message."),
        Argument("wing", "Only this wing of the team."),
        Argument("limit", schema={"minimum": 1, "maximum": 30}),
    ),
    steps=_ask,
    answer=_answer_search,
    output=shape(notice=TEXT, hits=ENTRIES),
)


def _answer_status(result: TeamStatusResult, call: CallArguments) -> Answer:
    if not result.url:
        notice = "This memory has not joined a team."
    else:
        notice = result.problem or f"{plain_name(result.person)} at {result.url}."
    wings = [
        {"name": plain_name(wing.name), "role": wing.role, "shared_as": plain_name(wing.shared_as)}
        for wing in result.wings
    ]
    return Answer({"notice": notice, "wings": wings})


STATUS = Tool(
    name="team_status",
    description="Show the team that this memory has joined, and the wings that it may read there.",
    arguments=(),
    answer=_answer_status,
    output=shape(notice=TEXT, wings=LIST),
)

FULL = (SEARCH, STATUS)
