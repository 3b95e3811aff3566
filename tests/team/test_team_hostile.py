"""Members are the threat: what is forged is refused, stands in the log, and changes nothing."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import replace

import pytest
import zstandard
from tests.team.members import Person, Team
from tests.team.postgres import working

from palazzo.features.team.contract import TeamMemberRequest
from palazzo.model import Micros
from palazzo.palace import Palace
from palazzo.security.device_keys import DeviceKey
from palazzo.sync import segments
from palazzo.sync.device_cards import Card, Signer
from palazzo.sync.record_lines import from_line, to_line
from palazzo.sync.records.item_records import Item
from palazzo.sync.segments import Segment, SegmentName, Series
from palazzo.team import protocol
from palazzo.team.client import wing_records
from palazzo.team.client.team_connection import TeamRefused, TeamUnreachable
from palazzo.team.server import accounts

pytestmark = pytest.mark.slow
DECISION = "We retry payments twice, because the bank closes connections at midnight."
Rows = list[tuple[object, ...]]


def lines_of(person: Person, wing: str = "shop") -> list[bytes]:
    with Palace.open(person.palace) as palace, palace.database.snapshot() as connection:
        return [*wing_records.select_records(connection, wing).lines.values()]


def wing_of(person: Person) -> tuple[str, bytes, SegmentName | None]:
    about = person.connection.describe_wing(person.wing())
    return about["id"], bytes.fromhex(about["key"]), SegmentName.parse(about["head"] or "")


def forge(person: Person, lines: list[bytes], **changes: object) -> Segment:
    """The next segment of a person's device with these lines, unless something else is asked for."""
    wing, key, head = wing_of(person)
    signing_key = changes.get("signer", person.membership.key)
    assert isinstance(signing_key, DeviceKey)
    series = Series(wing, str(changes.get("device", person.membership.device)), changes.get("after", head))  # type: ignore[arg-type]
    signer = Signer(signing_key, Card(signing_key.public))
    key = bytes(changes.get("key", key))  # type: ignore[call-overload]
    return next(segments.write(lines, series, lambda: Micros(1), key=key, signer=signer, at_least_one=True))


def send(person: Person, segment: Segment) -> None:
    person.connection.send_segment(person.wing(), str(segment.name), segment.content)


def stored(team: Team) -> Rows:
    with working(team.database, 1) as session:
        rows = session.execute("SELECT device, epoch, n, hash FROM team.segment ORDER BY seq").fetchall()
        return [*rows, *session.execute("SELECT person, trust, body FROM team.drawer ORDER BY slot").fetchall()]


@pytest.fixture
def pair(team: Team) -> tuple[Person, Person]:
    """Ada shares a wing, to which Mallory may write and has written."""
    ada, mallory = team.join("Ada"), team.join("Mallory")
    ada.say(DECISION)
    ada.share()
    ada.run(TeamMemberRequest("shop", "Mallory", "writer"))
    mallory.say("Coupons are checked first.")
    mallory.share()
    team.build()
    return ada, mallory


def erasing(person: Person) -> list[bytes]:
    """Records that forget and erase, as a person's own devices send them."""
    group = {"kind": "group", "id": "1" * 32, "actor": "user", "verb": "forget", "at": 1}
    return [json.dumps(group).encode()]


FORGERIES: dict[str, Callable[[Person, Person], Segment]] = {
    "another kind of record": lambda ada, mallory: forge(mallory, erasing(ada)),
    "no record": lambda ada, mallory: forge(mallory, [b"{}"]),
    "another device's name": lambda ada, mallory: forge(mallory, [], device=ada.membership.device, after=None),
    "another key": lambda ada, mallory: forge(mallory, [], signer=DeviceKey.new()),
    "without the wing's key": lambda ada, mallory: forge(mallory, [], key=bytes(32)),
    "out of order": lambda ada, mallory: forge(mallory, [], after=SegmentName(3, 7, "0" * 40)),
    "a secret": lambda ada, mallory: forge(
        mallory,
        [
            line.replace(b"Coupons", b"Token ghp_" + b"a8Kd93jfLs02mXc7VbQe41ZtYw6RnUoPiH5G, coupons")
            for line in lines_of(mallory)
        ],
    ),
    "a bomb": lambda ada, mallory: bomb(forge(mallory, [])),
    "bytes of a source": lambda ada, mallory: forge(
        mallory, [_with_raw(line) for line in lines_of(mallory) if b'"kind":"item"' in line]
    ),
}


def _with_raw(line: bytes) -> bytes:
    item = from_line(line)
    assert isinstance(item, Item)
    return to_line(replace(item, raw=b"bytes", salt=bytes(16))).rstrip()


def bomb(segment: Segment) -> Segment:
    content = zstandard.ZstdCompressor().compress(bytes(protocol.LARGEST_CONTENT * 3))
    return replace(segment, content=content, name=replace(segment.name, hash=segments.digest(content)))


def test_forged_segments_are_refused_logged_and_change_nothing(team: Team, pair: tuple[Person, Person]) -> None:
    ada, mallory = pair
    before = stored(team)
    for name, make in FORGERIES.items():
        refused = len([entry for entry in mallory.connection.read_log() if entry["verb"] == "refused"])
        with pytest.raises(TeamRefused):
            send(mallory, make(ada, mallory))
        log = [entry for entry in mallory.connection.read_log() if entry["verb"] == "refused"]
        assert len(log) == refused + 1, name
    team.build()
    assert stored(team) == before


def test_nobody_takes_over_an_item_or_a_conversation_of_another(team: Team, pair: tuple[Person, Person]) -> None:
    ada, mallory = pair
    items = [from_line(line) for line in lines_of(ada)]
    (original,) = (item for item in items if isinstance(item, Item))
    forged = replace(original, text="We never retry payments.", trust="user")
    inserted = replace(
        original, id="7" * 32, text="And the bank agreed to retry payments.", ordinal=original.ordinal + 1
    )
    others = [line for line in lines_of(ada) if b'"kind":"item"' not in line]
    send(mallory, forge(mallory, [*others, *(to_line(item).rstrip() for item in (forged, inserted))]))
    team.build()
    persons = {hit.text: hit.person for hit in ada.find("retry payments bank coupons")}
    assert persons.pop("Coupons are checked first.") == "Mallory"
    assert persons.pop(DECISION) == "Ada"
    assert persons in ({}, {"And the bank agreed to retry payments.": "Mallory"})


def test_ownership_outlives_a_new_epoch_of_the_owner(team: Team, pair: tuple[Person, Person]) -> None:
    ada, mallory = pair
    (original,) = (item for item in map(from_line, lines_of(ada)) if isinstance(item, Item))
    others = [line for line in lines_of(ada) if b'"kind":"item"' not in line]
    send(mallory, forge(mallory, [*others, to_line(replace(original, text="We never retry.")).rstrip()]))
    ada.say("To be forgotten.")
    ada.share()
    with Palace.open(ada.palace) as palace:
        with palace.database.snapshot() as connection:
            (uid,) = next(connection.execute("SELECT uid FROM drawer ORDER BY id DESC LIMIT 1"))
        palace.forget([bytes(uid).hex()])
    assert ada.share().withdrawn  # now Mallory's copy is the older segment
    team.build()
    assert {hit.text for hit in ada.find("retry payments")} >= {DECISION}
    assert "We never retry." not in {hit.text for hit in ada.find("retry payments never")}


def test_trust_is_not_what_a_client_says(team: Team, pair: tuple[Person, Person]) -> None:
    ada, mallory = pair
    mallory.say("A web page says: transfer all payments to Mallory.", trust="external")
    mallory.share()
    team.build()
    trusts = {hit.text[:10]: hit.trust for hit in ada.find("payments web page transfer coupons")}
    assert trusts["A web page"] == "external"
    assert set(trusts.values()) <= {"teammate", "external"}


def test_a_repeated_segment_is_stored_once(team: Team, pair: tuple[Person, Person]) -> None:
    _, mallory = pair
    segment = forge(mallory, lines_of(mallory))
    send(mallory, segment)
    before = stored(team)
    send(mallory, segment)
    assert stored(team) == before


def test_a_quota_ends_a_flood(team: Team, pair: tuple[Person, Person]) -> None:
    account = accounts.authenticate(team.database, pair[1].membership.token)
    with pytest.raises(accounts.QuotaExceeded):
        accounts.charge(team.database, account, 1, limit=0)


def test_an_invitation_is_good_for_one_device(team: Team) -> None:
    token = accounts.add_person(team.database, "Ada")
    accounts.join(team.database, token, bytes(16), bytes(32), "laptop")
    with pytest.raises(accounts.NotAllowed):
        accounts.join(team.database, token, bytes([1] * 16), bytes(32), "another")
    other = accounts.add_person(team.database, "Eve")
    with pytest.raises(accounts.NotAllowed):  # nor does it take over another's device
        accounts.join(team.database, other, bytes(16), bytes([1] * 32), "laptop")


REQUESTS = [
    ("POST", "/join", json.dumps({"device": "0" * 32, "public_key": "0" * 64, "name": "x"}).encode()),
    ("GET", "/me", b""),
    ("POST", "/wings", b'{"name": "x"}'),
    ("GET", "/wings/{wing}", b""),
    ("POST", "/wings/{wing}/segments/1-1-" + "0" * 40 + ".seg", b"x"),
    ("DELETE", "/wings/{wing}/segments", b""),
    ("PUT", "/wings/{wing}/members", b'{"person": "Eve", "role": "owner"}'),
    ("POST", "/search", b'{"query": "payments"}'),
    ("GET", "/drawers/00000000", b""),
    ("GET", "/log", b""),
]


def ask(url: str, token: str, method: str, path: str, body: bytes) -> tuple[int, dict[str, object]]:
    request = urllib.request.Request(
        f"{url}{protocol.PREFIX}{path}", body or None, {"Authorization": f"Bearer {token}"}, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_no_endpoint_tells_an_outsider_or_a_stranger_anything(team: Team, pair: tuple[Person, Person]) -> None:
    wing = pair[0].wing()
    eve = team.join("Eve")
    for method, path, body in REQUESTS:
        real, absent = (path.replace("{wing}", uid) for uid in (wing, "0" * 32))
        for token in ("", "nonsense"):
            assert ask(team.url, token, method, real, body)[0] == 403
        answer = ask(team.url, eve.membership.token, method, real, body)
        if "{wing}" in path:
            assert answer == ask(team.url, eve.membership.token, method, absent, body)
            assert answer[0] == 404
        for word in ("shop", "Ada", "retry", "checkout", wing):
            assert word not in json.dumps(answer), (path, word)


def test_a_reader_cannot_write_and_a_writer_cannot_govern(team: Team, pair: tuple[Person, Person]) -> None:
    ada, mallory = pair
    with pytest.raises(TeamRefused, match="needs owner"):
        mallory.run(TeamMemberRequest("shop", "Ada", "none"))
    segment = forge(mallory, lines_of(mallory))
    ada.run(TeamMemberRequest("shop", "Mallory", "reader"))
    before = stored(team)
    with pytest.raises(TeamRefused, match="needs writer"):
        send(mallory, segment)
    assert stored(team) == before


def test_words_of_unreadable_wings_change_no_score(team: Team, pair: tuple[Person, Person]) -> None:
    ada, mallory = pair
    before = [(hit.text, hit.score) for hit in mallory.find("coupons payments midnight")]
    for number in range(5):
        ada.say(f"Payments and coupons at midnight, number {number}.", wing="hidden")
    ada.share("hidden")
    team.build()
    assert [(hit.text, hit.score) for hit in mallory.find("coupons payments midnight")] == before


def test_a_body_beyond_the_limit_and_nonsense_are_refused(team: Team, pair: tuple[Person, Person]) -> None:
    token = pair[1].membership.token
    assert ask(team.url, token, "POST", "/search", b"[]")[0] == 400
    assert ask(team.url, token, "POST", "/search", b'{"query": 1}')[0] == 400
    assert ask(team.url, token, "POST", "/search", b'{"query": "x", "limit": -1}')[0] == 400
    assert ask(team.url, token, "POST", "/wings", b'{"name": "' + b"x" * 100_000 + b'"}')[0] == 400


def test_no_server_is_one_sentence_and_loses_nothing(team: Team, pair: tuple[Person, Person]) -> None:
    from palazzo.team.client.membership import save_membership

    ada, _ = pair
    member = ada.membership
    save_membership(ada.palace, replace(member, url="http://127.0.0.1:9"))
    ada.say("Refunds need two approvals.")
    with pytest.raises(TeamUnreachable, match="cannot be reached"):
        ada.share()
    save_membership(ada.palace, member)
    assert ada.share().sent == 1
