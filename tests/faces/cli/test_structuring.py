"""Wings, rooms and tunnels on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faces.cli.command import Command


@pytest.fixture
def filed(home: Path, palazzo: Command) -> dict[str, str]:
    """Five notes in two wings; returns their drawers by room."""
    notes = [
        ("api", "auth", "The heron guards the tokens.", "decision"),
        ("api", "ops", "The heron deploys on monday.", "learning"),
        ("web", "auth", "The heron keeps its cookies.", "decision"),
        ("web", "look", "The heron paints the buttons.", "preference"),
        ("web", "notes", "The heron is grey.", "odd"),
    ]
    return {
        f"{wing}/{room}": palazzo.json("remember", text, "--wing", wing, "--room", room, "--kind", kind)["drawers"][0]
        for wing, room, text, kind in notes
    }


def ids(palazzo: Command, *arguments: str) -> set[str]:
    return {hit["id"] for hit in palazzo.json("search", "heron", "--limit", "20", *arguments)["hits"]}


@pytest.mark.usefixtures("filed")
def test_a_wing_is_renamed_and_undone_and_its_old_name_says_where_it_leads(palazzo: Command) -> None:
    before = ids(palazzo, "--wing", "api")
    assert palazzo.json("wing", "rename", "api", "Back End") == {"wing": "back-end", "was": "api"}
    assert ids(palazzo, "--wing", "back-end") == before
    ran = palazzo("search", "heron", "--wing", "api")
    assert ran.error == "palazzo: The wing 'api' is now called 'back-end'.\n"
    assert palazzo.json("search", "heron", "--wing", "api")["scope"]["wing"] == "back-end"
    assert palazzo.json("wing", "list")["wings"][0] == {
        "wing": "back-end",
        "rooms": 2,
        "drawers": 2,
        "former": ["api"],
    }
    assert "wing rename api → back-end" in palazzo("undo").out
    assert [one["wing"] for one in palazzo.json("wing", "list")["wings"]] == ["api", "web"]


@pytest.mark.usefixtures("filed")
def test_status_wake_up_remember_and_forget_follow_a_renamed_wing(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", "The shop opens at nine.", "--kind", "decision")
    palazzo.json("wing", "rename", "shop", "store")
    assert "store" in palazzo.json("status")["wings"]
    assert "shop" not in palazzo.json("status")["wings"]
    assert palazzo.json("remember", "The shop closes at six.", "--kind", "decision")["wing"] == "store"
    assert palazzo.json("remember", "By the old name.", "--wing", "shop")["wing"] == "store"
    told = palazzo.json("wake-up")
    assert told["wing"] == "store"
    assert "opens at nine" in told["text"]
    assert "closes at six" in told["text"]
    (home / "shop" / "guide.md").write_text("# Guide\n\nWhat the shop sells.\n")
    palazzo.json("mine", ".")
    assert palazzo.json("search", "what does the shop sell", "--wing", "store")["hits"][0]["wing"] == "store"
    ran = palazzo("forget", "--wing", "shop", "--dry-run")
    assert "now called 'store'" in ran.error
    assert "4 drawers would be forgotten" in ran.out


def test_facts_of_a_wing_follow_its_name(palazzo: Command) -> None:
    first = palazzo.json("kg", "add", "api", "listens on", "8443", "--wing", "api")
    palazzo.json("wing", "rename", "api", "backend")
    again = palazzo.json("kg", "add", "api", "listens on", "8443", "--wing", "api")
    assert (again["new"], again["fact"]["id"]) == (False, first["fact"]["id"])
    assert palazzo.json("kg", "query", "api", "--wing", "backend")["facts"][0]["scope"] == "backend"


@pytest.mark.usefixtures("filed")
def test_rooms_are_renamed_merged_and_moved(palazzo: Command) -> None:
    assert palazzo.json("room", "rename", "api/auth", "login") == {"wing": "api", "room": "login", "was": "auth"}
    assert palazzo.json("room", "merge", "login", "web/auth") == {"wing": "web", "room": "auth", "was": "api/login"}
    assert palazzo.json("room", "move", "ops", "vault", "--new") == {"wing": "vault", "room": "ops", "was": "api/ops"}
    assert ids(palazzo, "--wing", "web", "--room", "auth") == ids(palazzo, "--wing", "api", "--room", "auth")
    (auth,) = [one for one in palazzo.json("room", "list", "--wing", "web")["rooms"] if one["room"] == "auth"]
    assert (auth["drawers"], auth["halls"], auth["former"]) == (2, {"decisions": 2}, ["api/auth", "api/login"])
    for _ in range(3):
        assert palazzo("undo").code == 0
    assert {f"{one['wing']}/{one['room']}" for one in palazzo.json("room", "list")["rooms"]} == {
        "api/auth",
        "api/ops",
        "web/auth",
        "web/look",
        "web/notes",
    }


@pytest.mark.usefixtures("filed")
def test_names_that_look_like_flags_are_names_and_those_of_nothing_are_none(palazzo: Command) -> None:
    assert "called json from now on" in palazzo("wing", "rename", "api", "--", "--json").out
    for bad in ("///", "…", "--", " "):
        ran = palazzo("wing", "rename", "json", "--", bad)
        assert (ran.code, "is not a valid name; use letters, digits, - and _." in ran.error) == (2, True), ran
    assert "already has that name" in palazzo("wing", "rename", "JSON", "Json").error


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("wing", "rename", "ap", "x"), "There is no wing 'ap'. Near it: api."),
        (("wing", "merge", "api", "wbe"), "There is no wing 'wbe'. Near it: web."),
        (("room", "move", "api/ops", "vault"), "There is no wing 'vault'. There are: api, web."),
        (("room", "move", "api/ops", "web", "--new"), "A wing 'web' already exists. Leave out --new"),
        (("room", "rename", "auth", "x"), "Several wings have a room 'auth': specify one of api/auth, web/auth."),
        (("tunnel", "add", "api/auth", "web/lok"), "There is no room 'web/lok'. Near it: web/look."),
        (("tunnel", "add", "api/auth", "web/ops"), "There is no room 'web/ops'. Near it: api/ops."),
        (("tunnel", "add", "api/auth", "api/auth"), "A tunnel connects two different rooms, but both are 'api/auth'."),
        (("tunnel", "remove", "0123"), "No tunnel has the id '0123'."),
        (("tunnel", "find", "api", "wbe"), "There is no wing 'wbe'. Near it: web."),
        (("traverse", "atuh"), "There is no room 'atuh'. Near it: api/auth, web/auth."),
        (("traverse", "auth", "--hops", "99"), "--hops is 99; it must be between 0 and 10."),
    ],
)
@pytest.mark.usefixtures("filed")
def test_bad_input_is_answered_in_one_sentence(palazzo: Command, arguments: tuple[str, ...], sentence: str) -> None:
    ran = palazzo(*arguments)
    assert ran.code in (1, 2)
    assert sentence in ran.error
    assert ran.error.count("\n") == 1


@pytest.mark.parametrize("command", [("wing", "list"), ("wing", "rename", "a", "b"), ("room", "merge", "a/b", "c/d")])
def test_a_palace_that_is_missing_is_not_made(palazzo: Command, home: Path, command: tuple[str, ...]) -> None:
    assert palazzo(*command).code != 0
    assert not (home / ".local" / "share" / "palazzo" / "palace.db").exists()


def test_taxonomy_shows_wings_rooms_and_halls(palazzo: Command, filed: dict[str, str]) -> None:
    palazzo.json("tunnel", "add", "api/auth", "web/look")
    told = palazzo.json("taxonomy")
    assert told["taxonomy"]["web"] == {
        "drawers": 3,
        "rooms": {
            "auth": {"drawers": 1, "halls": {"decisions": 1}},
            "look": {"drawers": 1, "halls": {"preferences": 1}},
            "notes": {"drawers": 1, "halls": {}},
        },
    }
    assert (told["drawers"], told["tunnels"]) == (len(filed), 1)
    assert list(palazzo.json("taxonomy", "--wing", "API")["taxonomy"]) == ["api"]
    assert "discoveries 1" in palazzo("taxonomy").out


def test_a_tunnel_is_made_once_followed_from_both_sides_and_removed(palazzo: Command, filed: dict[str, str]) -> None:
    made = palazzo.json(
        "tunnel", "add", "api/auth", "web/look", "--label", "who may paint", "--target-drawer", filed["web/look"][:12]
    )
    tunnel = made["tunnel"]
    assert (made["new"], tunnel["target"]["drawers"]) == (True, [filed["web/look"]])
    again = palazzo.json(
        "tunnel", "add", "api/auth", "web/look", "--label", "who may paint", "--target-drawer", filed["web/look"]
    )
    assert again == {"tunnel": tunnel, "new": False}
    palazzo.json("room", "rename", "web/look", "paint")  # it leads there all the same
    (out,) = palazzo.json("tunnel", "follow", "api/auth")["tunnels"]
    assert out == {
        "direction": "outgoing",
        "connected_wing": "web",
        "connected_room": "paint",
        "label": "who may paint",
        "tunnel_id": tunnel["id"],
        "drawers": [{"id": filed["web/look"], "text": "The heron paints the buttons.", "truncated": False}],
    }
    (back,) = palazzo.json("tunnel", "follow", "web/paint")["tunnels"]
    assert (back["direction"], back["connected_room"]) == ("incoming", "auth")
    assert "The heron paints the buttons." in palazzo("tunnel", "follow", "api/auth").out
    assert palazzo.json("tunnel", "list", "--wing", "web")["tunnels"][0]["id"] == tunnel["id"]
    assert (palazzo.json("status")["tunnels"], palazzo.json("status", "--as-of", "2020-01-01")["tunnels"]) == (1, 0)
    assert palazzo.json("tunnel", "remove", tunnel["id"][:20])["deleted"]["id"] == tunnel["id"]
    assert palazzo.json("tunnel", "list")["tunnels"] == []
    assert "has already been removed" in palazzo("tunnel", "remove", tunnel["id"]).error
    palazzo("undo")
    assert palazzo.json("tunnel", "list")["tunnels"][0]["id"] == tunnel["id"]


@pytest.mark.usefixtures("filed")
def test_a_tunnel_that_was_made_again_is_not_there_twice_when_its_removal_is_undone(palazzo: Command) -> None:
    first = palazzo.json("tunnel", "add", "api/auth", "web/look")["tunnel"]
    palazzo.json("tunnel", "remove", first["id"])
    removal = palazzo.json("undo", "--list")["changes"][0]["id"]
    again = palazzo.json("tunnel", "add", "api/auth", "web/look")["tunnel"]
    palazzo.json("undo", removal)
    assert [one["id"] for one in palazzo.json("tunnel", "list")["tunnels"]] == [again["id"]]


@pytest.mark.usefixtures("filed")
def test_what_an_undone_tunnel_joined_is_joined_no_more(palazzo: Command) -> None:
    palazzo.json("tunnel", "add", "api/auth", "web/look")
    assert "tunnel add api/auth → web/look" in palazzo("undo").out
    assert palazzo.json("tunnel", "list")["tunnels"] == []


@pytest.mark.usefixtures("filed")
def test_rooms_of_one_name_are_found_tunnels_but_for_those_that_every_wing_has(palazzo: Command) -> None:
    palazzo.json("remember", "Another one.", "--wing", "api", "--room", "notes")
    told = palazzo.json("tunnel", "find")
    assert told["total"] == 1
    (auth,) = told["rooms"]
    assert (auth["room"], auth["wings"], auth["halls"], auth["count"]) == ("auth", ["api", "web"], ["decisions"], 2)
    assert auth["recent"].startswith("20")
    assert palazzo.json("tunnel", "find", "api", "web") == told
    assert palazzo.json("tunnel", "find", "api", "api")["total"] == 1


@pytest.mark.usefixtures("filed")
def test_rooms_that_share_names_are_found_tunnels_with_the_names(palazzo: Command) -> None:
    assert "No rooms of different wings share names" in palazzo("tunnel", "find").out
    for place in ("api/ops", "web/look"):
        wing, room = place.split("/")
        palazzo.json("remember", f"{place}: `retry_budget` is in src/limits.py.", "--wing", wing, "--room", room)
    told = palazzo.json("tunnel", "find", "web")
    assert (told["sharing"], told["total_sharing"]) == (
        [
            {
                "rooms": ["api/ops", "web/look"],
                "names": [
                    {"name": "retry_budget", "kind": "identifier"},
                    {"name": "src/limits.py", "kind": "file"},
                ],
                "shared": 2,
            }
        ],
        1,
    )
    assert "share retry_budget, src/limits.py" in palazzo("tunnel", "find").out
    assert palazzo.json("graph-stats")["top_sharing"] == told["sharing"]
    assert palazzo.json("traverse", "web/look", "--hops", "1")["rooms"][1]["via"] == "names retry_budget, src/limits.py"


@pytest.mark.usefixtures("filed")
def test_traversal_goes_hop_by_hop_through_tunnels_and_wings(palazzo: Command) -> None:
    palazzo.json("remember", "Keys are in the safe.", "--wing", "vault", "--room", "keys", "--kind", "fact")
    palazzo.json("tunnel", "add", "web/look", "vault/keys", "--label", "paint for keys")
    told = palazzo.json("traverse", "ops", "--hops", "3")
    assert [(one["room"], one["wings"], one["hop"], one["via"]) for one in told["rooms"]] == [
        ("ops", ["api"], 0, ""),
        ("auth", ["api", "web"], 1, "wing api"),
        ("look", ["web"], 2, "wing web"),
        ("keys", ["vault"], 3, "tunnel paint for keys"),
    ]
    assert told["rooms"][3]["halls"] == ["facts"]
    assert [one["room"] for one in palazzo.json("traverse", "ops", "--hops", "0")["rooms"]] == ["ops"]
    assert palazzo.json("traverse", "ops", "--hops", "3", "--limit", "2")["total"] == 4
    stats = palazzo.json("graph-stats")
    assert (stats["total_rooms"], stats["tunnel_rooms"], stats["total_edges"]) == (6, 4, 2)
    assert stats["rooms_per_wing"] == {"api": 2, "vault": 1, "web": 3}
    assert stats["top_tunnels"][0]["room"] == "auth"


@pytest.mark.usefixtures("filed")
def test_a_merge_leaves_no_tunnel_twice_and_none_that_leads_back(palazzo: Command) -> None:
    for source, target in (("web/look", "api/ops"), ("web/auth", "api/ops"), ("web/look", "web/auth")):
        palazzo.json("tunnel", "add", source, target)
    palazzo.json("room", "merge", "web/look", "web/auth")
    assert len(palazzo.json("tunnel", "list")["tunnels"]) == 1
    palazzo.json("undo")
    assert len(palazzo.json("tunnel", "list")["tunnels"]) == 3


@pytest.mark.usefixtures("filed")
def test_a_secret_is_not_kept_in_a_label(palazzo: Command) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    label = palazzo.json("tunnel", "add", "api/auth", "web/look", "--label", f"token {secret}")["tunnel"]["label"]
    assert secret not in label
    assert label.startswith("token ")


def test_all_tables_are_shown_to_a_person(palazzo: Command, filed: dict[str, str]) -> None:
    assert "No tunnel has been created yet" in palazzo("tunnel", "list").out
    assert "Made" in palazzo("tunnel", "add", "api/auth", "web/look", "--source-drawer", filed["api/auth"]).out
    assert (
        "Already exists; nothing changed"
        in palazzo("tunnel", "add", "api/auth", "web/look", "--source-drawer", filed["api/auth"]).out
    )
    for command in (("wing", "list"), ("room", "list"), ("tunnel", "list"), ("tunnel", "find"), ("traverse", "auth")):
        assert "auth" in palazzo(*command).out or command[0] == "wing"
    assert "made or found" in palazzo("graph-stats").out
    assert "1 room that both had is now merged: auth" in palazzo("wing", "merge", "api", "web").out
    assert "former names" in palazzo("room", "list").out
    assert "is a part of" in palazzo("room", "merge", "web/look", "web/ops").out
