"""Arguments of clients that were written for another server, and those that hosts add: what is read, what is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.faces.mcp.talking import Talk

from palazzo.faces.mcp.profile import MODULES, profile_called
from palazzo.operations.agent_tools.host_arguments import HOST_ARGUMENTS
from palazzo.palace import Palace

INVALID_PARAMS, METHOD_NOT_FOUND = -32602, -32601
SEARCHES = {"palazzo": "search", "mempalace": "mempalace_search", "shodh": "recall"}
TOLERANT_PROFILES = ("mempalace", "shodh")


@pytest.fixture
def talk(stocked_palace: Palace, tmp_path: Path) -> Talk:
    home = tmp_path / "shop"
    home.mkdir()
    return Talk(stocked_palace, home)


@pytest.mark.parametrize("toolset", ["core", "full"])
@pytest.mark.parametrize("profile", MODULES)
def test_what_hosts_add_to_a_call_is_dropped_without_a_word(talk: Talk, profile: str, toolset: str) -> None:
    talk = replace(talk, profile=profile, toolset=toolset)
    result = talk.call(SEARCHES[profile], query="zebra gateway", **dict.fromkeys(HOST_ARGUMENTS, False))
    assert result == talk.call(SEARCHES[profile], query="zebra gateway")
    assert "8443" in result["content"][0]["text"]


def test_no_tool_has_an_argument_that_a_host_adds() -> None:
    for profile in MODULES:
        for tool in profile_called(profile).tools("full"):
            assert not HOST_ARGUMENTS.keys() & tool.input["properties"].keys(), tool.name


def test_the_own_profile_reads_arguments_as_they_are_written(talk: Talk) -> None:
    assert talk.error("search", query="x", wings="a")[0] == INVALID_PARAMS
    assert talk.error("search", query="x", limit="3")[0] == INVALID_PARAMS
    assert "at most 30" in talk.error("search", query="x", limit=500)[1]
    assert talk.error("nothing")[0] == INVALID_PARAMS


@pytest.mark.parametrize("profile", TOLERANT_PROFILES)
def test_an_unknown_argument_is_ignored_with_a_remark(talk: Talk, profile: str) -> None:
    name = SEARCHES[profile]
    result = replace(talk, profile=profile).call(name, query="zebra gateway", n_results=3)
    assert not result["isError"]
    (remark,) = result["structuredContent"]["remarks"]
    assert remark.startswith(f"{name} has no argument 'n_results'")
    text = result["content"][0]["text"]
    assert "8443" in text
    assert remark in (json.loads(text)["remarks"] if profile == "mempalace" else text)


@pytest.mark.parametrize("profile", TOLERANT_PROFILES)
@pytest.mark.parametrize(
    ("limit", "used"),
    [
        *[("2", 2), ("2.0", 2), (2.7, 2), (0, 1), ("-4", 1), (100_000, 100), ("100000", 100)],
        *[(10**400, 100), (-(10**400), 1), (None, 5), ("", 5)],
    ],
)  # fmt: skip
def test_a_limit_is_read_and_kept_within_its_bounds(talk: Talk, profile: str, limit: Any, used: int) -> None:
    tool = next(tool for tool in profile_called(profile).tools("core") if tool.name == SEARCHES[profile])
    arguments = tool.parse_call({"query": "x", "limit": limit})
    assert (arguments["limit"], type(arguments["limit"])) == (used, int)
    is_clamped = used in (1, 100)
    assert any(f"{used} was used" in remark for remark in arguments.remarks) is is_clamped
    assert not replace(talk, profile=profile).call(tool.name, query="x", limit=limit)["isError"]


@pytest.mark.parametrize("limit", ["many", "NaN", "1e999", True, [3], {}])
@pytest.mark.parametrize("profile", TOLERANT_PROFILES)
def test_what_is_no_number_is_refused_by_name(talk: Talk, profile: str, limit: Any) -> None:
    code, sentence = replace(talk, profile=profile).error(SEARCHES[profile], query="x", limit=limit)
    assert code == INVALID_PARAMS
    assert "'limit' must be an integer" in sentence


@pytest.mark.parametrize(("profile", "tool"), [("mempalace", "mempalace_list_drawers"), ("shodh", "list_memories")])
def test_a_number_that_nothing_counts_to_is_kept_within_what_does(talk: Talk, profile: str, tool: str) -> None:
    answer = replace(talk, profile=profile).told(tool, offset=10**30)
    assert answer["remarks"] == [f"'offset' is {10**30}, above the maximum; {2**53} was used."]


def test_the_own_profile_refuses_such_numbers_by_name(talk: Talk) -> None:
    for offset in (10**30, 10**400, 1e300):
        code, sentence = talk.error("list_drawers", offset=offset)
        assert code == INVALID_PARAMS
        assert f"it must be at most {2**53}" in sentence


def test_what_is_no_number_is_not_kept_beside_a_memory(talk: Talk) -> None:
    code, sentence = replace(talk, profile="shodh").error("remember", content="x", credibility=float("nan"))
    assert (code, sentence) == (INVALID_PARAMS, "remember: 'credibility' is not a number.")


def test_flags_numbers_and_choices_are_read_from_text(talk: Talk) -> None:
    shodh = replace(talk, profile="shodh")
    memory = shodh.told("remember", content="Okapis are fed at noon.", type="decision", importance="0.9", tags=["zoo"])
    whole = shodh.told("get_memory", id=memory["id"])
    assert (whole["type"], whole["importance"]) == ("Decision", 0.9)
    assert shodh.told("forget_by_tags", tags=["zoo"], dry_run="true")["forgotten"] == 0
    assert shodh.told("forget_by_tags", tags=["zoo"], dry_run="false")["forgotten"] == 1


@pytest.mark.parametrize("profile", TOLERANT_PROFILES)
def test_an_empty_text_for_an_optional_argument_is_no_value(talk: Talk, profile: str) -> None:
    result = replace(talk, profile=profile).call(SEARCHES[profile], query="zebra gateway", since="", until="", wing="")
    assert "8443" in result["content"][0]["text"]


@pytest.mark.parametrize("profile", TOLERANT_PROFILES)
def test_an_unknown_tool_is_an_unknown_method(talk: Talk, profile: str) -> None:
    code, sentence = replace(talk, profile=profile).error("nothing")
    assert code == METHOD_NOT_FOUND
    assert "'nothing'" in sentence


@pytest.mark.parametrize("profile", TOLERANT_PROFILES)
def test_profiles_that_stand_in_for_another_server_have_tolerant_tools_alone(profile: str) -> None:
    served_profile = profile_called(profile)
    assert served_profile.stands_in
    assert all(tool.tolerant for tool in served_profile.tools("full"))


def test_the_own_profile_has_none() -> None:
    served_profile = profile_called("palazzo")
    assert not served_profile.stands_in
    assert not any(tool.tolerant for tool in served_profile.tools("full"))
