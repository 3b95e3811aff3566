"""Rooms of different wings that mention the same rare names are tunnels that nobody has to make."""

from __future__ import annotations

from palazzo.knowledge.tunnel_discovery import spell_names
from palazzo.knowledge.tunnels import Rooms
from palazzo.model import Place
from palazzo.palace import Palace


def note(palace: Palace, place: str, text: str) -> str:
    return palace.remember(text, Place(*place.split("/"))).drawers[0]


def shared(palace: Palace) -> dict[tuple[str, str], list[str]]:
    palace.follow_mentions()
    with palace.database.snapshot() as connection:
        return {
            (f"{one.first.place.wing}/{one.first.place.room}", f"{one.second.place.wing}/{one.second.place.room}"): [
                name for name, _ in spell_names(connection, one, 10)
            ]
            for one in Rooms(connection).find_overlaps()
        }


def test_rooms_that_mention_the_same_rare_names_are_found_with_the_names_as_they_are_written(palace: Palace) -> None:
    note(palace, "api/auth", "Priya keeps `retry_budget` in src/limits/budget.py.")
    note(palace, "web/look", "The page shows `retry_budget`; Priya asked for src/limits/budget.py.")
    note(palace, "web/deploy", "`other_name` goes out first.")
    assert shared(palace) == {("api/auth", "web/look"): ["Priya", "retry_budget", "src/limits/budget.py"]}


def test_what_anybody_may_use_or_name_joins_nothing(palace: Palace) -> None:
    for place in ("api/auth", "web/look"):
        note(palace, place, f"{place}: we use Docker and PostgreSQL; see README.md, #12, `name` and `os.path_join`.")
    assert shared(palace) == {}


def test_one_name_is_chance_and_a_name_that_is_everywhere_joins_nothing(palace: Palace) -> None:
    wings = ("api", "web", "infra", "shop")
    for wing in wings:
        note(palace, f"{wing}/core", f"{wing} has `tenant_id` and `trace_id`.")
    note(palace, "api/auth", "`retry_budget` is ten.")
    note(palace, "web/auth", "`retry_budget` is nine.")
    assert shared(palace) == {}
    note(palace, "web/auth", "`lease_seconds` is sixty.")
    note(palace, "api/auth", "`lease_seconds` is ninety.")
    assert shared(palace) == {("api/auth", "web/auth"): ["lease_seconds", "retry_budget"]}


def test_rarer_names_join_first(palace: Palace) -> None:
    for n in range(4):
        note(palace, "api/auth", f"{n}: `request_id` and `lease_seconds`.")
    note(palace, "web/look", "`request_id`, `lease_seconds`, `old_cookie` and `new_cookie`.")
    note(palace, "infra/ops", "`old_cookie` and `new_cookie` are set by the proxy.")
    assert list(shared(palace)) == [("infra/ops", "web/look"), ("api/auth", "web/look")]


def test_what_is_forgotten_joins_nothing_and_a_merged_room_joins_as_what_it_is_now(palace: Palace) -> None:
    note(palace, "api/auth", "`retry_budget` and `lease_seconds`.")
    drawer = note(palace, "web/look", "`retry_budget` and `lease_seconds`.")
    note(palace, "web/codex", "`lease_seconds`.")
    palace.forget([drawer])
    assert shared(palace) == {}
    palace.undo()
    assert list(shared(palace)) == [("api/auth", "web/look")]


def test_diaries_and_tasks_are_about_other_wings_and_join_nothing(palace: Palace) -> None:
    for place in ("api/auth", "wing-codex/diary", "web/todos"):
        note(palace, place, "`retry_budget` and `lease_seconds`.")
    assert shared(palace) == {}


def test_a_step_leads_to_rooms_that_share_names_and_stats_count_them(palace: Palace) -> None:
    for place in ("api/auth", "web/look"):
        note(palace, place, f"{place}: `retry_budget` and `lease_seconds`.")
    note(palace, "web/deploy", "Tuesday.")
    palace.follow_mentions()
    with palace.database.snapshot() as connection:
        rooms = Rooms(connection)
        (auth,) = [one.row for one in rooms.all if one.place.room == "auth"]
        reached = [(one.rooms.room, one.hop, one.via) for one in rooms.reach([auth], 2)]
        stats = rooms.stats()
    assert reached == [
        ("auth", 0, ""),
        ("look", 1, "names lease_seconds, retry_budget"),
        ("deploy", 2, "wing web"),
    ]
    assert (stats.linked_rooms, stats.tunnels) == (2, 1)
