"""Accounts: people, their devices and tokens, wings and their members, quotas, and the audit log.

A token is shown once; the database has its hash. A join token lets one device join as a person, once; what the device
gets then is a member token, which expires. The server knows the person from the token alone, never from what a request
says.
"""

from __future__ import annotations

import secrets
from hashlib import blake2b
from typing import Literal

from palazzo.errors import NotFound, PalazzoError, UsageError
from palazzo.frozen_class import frozen
from palazzo.team.protocol import LONGEST_NAME, ROLES
from palazzo.team.server.team_database import Session, TeamDatabase

JOIN_DAYS, MEMBER_DAYS = 7, 90
"""Days until a join token expires, and until a device has to join again."""
BYTES_A_DAY = 512 * 1024 * 1024
"""Bytes that a person may send in a day: some 200,000 drawers, ten times a heavy day."""
Scope = Literal["join", "member"]


class NotAllowed(PalazzoError):
    """The token is missing, unknown, expired or revoked, or the person may not do this. Says no more than that."""


class QuotaExceeded(PalazzoError):
    """A person has sent as much as one may in a day."""


@frozen
class Account:
    """Who asks: a person, and the device (16 bytes) that the token was given to; a join token has none."""

    person: int
    name: str
    device: bytes | None
    public_key: bytes | None

    def require_device(self) -> bytes:
        """Return the device; raises NotAllowed if the token belongs to none."""
        if self.device is None:
            raise NotAllowed("This token belongs to no device: join the team with one.")
        return self.device


@frozen
class WingAccess:
    """A wing, and the role that a person has in it."""

    wing: int
    uid: bytes
    name: str
    key: bytes
    role: str

    def require(self, role: str) -> None:
        """Raise NotAllowed unless the role has at least the rights of `role`."""
        if ROLES.index(self.role) < ROLES.index(role):
            raise NotAllowed(f"Your role in '{self.name}' is {self.role}; this needs {role}.")


def add_person(database: TeamDatabase, name: str) -> str:
    """Add a person, or let a known one join with another device; return a join token."""
    name = check_name(name)
    with database.as_server() as session:
        session.execute("INSERT INTO team.person(name) VALUES (%s) ON CONFLICT (name) DO NOTHING", (name,))
        person = find_person(session, name)
        session.execute("UPDATE team.person SET left_at = NULL WHERE id = %s", (person,))
        note(session, person, "invite")
        return _new_token(session, person, None, "join", JOIN_DAYS)


def set_login(database: TeamDatabase, name: str, login: str) -> str:
    """Let a person, known or new, sign on by this claim (`sign_on_settings`); return it as it is compared.

    What the person signed on by before is forgotten. Raises UsageError if another person signs on so.
    """
    name, login = check_name(name), normalize_login(login)
    with database.as_server() as session:
        namesake = session.execute(
            "SELECT name FROM team.person WHERE login = %s AND name <> %s", (login, name)
        ).fetchone()
        if namesake is not None:
            raise UsageError(f"{namesake[0]} signs on as {login} already.")
        session.execute("INSERT INTO team.person(name) VALUES (%s) ON CONFLICT (name) DO NOTHING", (name,))
        person = find_person(session, name)
        session.execute("UPDATE team.person SET left_at = NULL, login = %s WHERE id = %s", (login, person))
        session.execute("DELETE FROM team.identity WHERE person = %s", (person,))
        note(session, person, "login", detail=login)
    return login


def normalize_login(login: str) -> str:
    """Return a claim as people are found by it: an email address in small letters, another one as it is.

    Raises UsageError if it is none.
    """
    login = check_name(login)
    return login.lower() if "@" in login else login


def remove_person(database: TeamDatabase, name: str) -> int:
    """Revoke a person's tokens and memberships; return how many tokens. What they shared stays until it is erased."""
    with database.as_server() as session:
        person = find_person(session, name)
        session.execute("UPDATE team.person SET left_at = now() WHERE id = %s", (person,))
        session.execute("DELETE FROM team.member WHERE person = %s", (person,))
        revoked = _revoke_tokens(session, person)
        note(session, person, "leave")
    return revoked


def revoke_tokens(database: TeamDatabase, name: str) -> int:
    """Revoke a person's tokens and invitations, and nothing else; return how many."""
    with database.as_server() as session:
        person = find_person(session, name)
        revoked = _revoke_tokens(session, person)
        note(session, person, "revoke")
    return revoked


def _revoke_tokens(session: Session, person: int) -> int:
    return session.execute(
        "UPDATE team.token SET revoked_at = now() WHERE person = %s AND revoked_at IS NULL", (person,)
    ).rowcount


def join(database: TeamDatabase, token: str, device: bytes, public_key: bytes, device_name: str) -> tuple[str, str]:
    """Register a device of the join token's person; return a member token and the person's name. Raises NotAllowed.

    A device that joins again, with the same key and for the same person, gets a new token; its former ones end.
    """
    account = authenticate(database, token, "join")
    with database.as_server() as session:
        used = session.execute(
            "UPDATE team.token SET revoked_at = now() WHERE hash = %s AND revoked_at IS NULL", (_hash(token),)
        )
        if not used.rowcount:
            raise NotAllowed("This invitation was used already; ask for another one.")
        return register_device(session, account.person, device, public_key, device_name, "join"), account.name


def register_device(
    session: Session,
    person: int,
    device: bytes,
    public_key: bytes,
    name: str,
    verb: str,
    days: int = MEMBER_DAYS,
) -> str:
    """Register a device of a person, or find it again; return a member token for it. Its former tokens end.

    Raises NotAllowed if it belongs to another person, or has another key.
    """
    name = name[:LONGEST_NAME]
    added = session.execute(
        "INSERT INTO team.device AS known(uid, person, public_key, name) VALUES (%s, %s, %s, %s)"
        " ON CONFLICT (uid) DO UPDATE SET name = excluded.name"
        " WHERE known.person = excluded.person AND known.public_key = excluded.public_key",
        (device, person, public_key, name),
    )
    if not added.rowcount:
        raise NotAllowed("This device is another person's on the team server: remove team.json, and join again.")
    session.execute("UPDATE team.token SET revoked_at = now() WHERE device = %s AND revoked_at IS NULL", (device,))
    note(session, person, verb, detail=name)
    return _new_token(session, person, device, "member", days)


def authenticate(database: TeamDatabase, token: str, scope: Scope = "member") -> Account:
    """Return whose token this is. Raises NotAllowed, with the same words whatever is wrong with it."""
    with database.as_server() as session:
        row = session.execute(
            "SELECT person.id, person.name, device.uid, device.public_key FROM team.token"
            " JOIN team.person ON person.id = token.person LEFT JOIN team.device ON device.uid = token.device"
            " WHERE token.hash = %s AND token.scope = %s AND token.revoked_at IS NULL AND token.expires_at > now()"
            " AND person.left_at IS NULL",
            (_hash(token), scope),
        ).fetchone()
    if row is None:
        raise NotAllowed(
            "The token is not valid (any more): join the team again with a new invitation, or sign on again "
            "('palazzo team login')."
        )
    return Account(*row)


def create_wing(database: TeamDatabase, account: Account, name: str) -> WingAccess:
    """Create a wing that the person owns. Others' wings of that name are theirs, and not mentioned."""
    name = check_name(name)
    with database.as_server() as session:
        uid, key = secrets.token_bytes(16), secrets.token_bytes(32)
        row = session.execute(
            "INSERT INTO team.wing(uid, name, key) VALUES (%s, %s, %s) RETURNING id", (uid, name, key)
        ).fetchone()
        wing = int(row[0]) if row else 0
        session.execute("INSERT INTO team.member(person, wing, role) VALUES (%s, %s, 'owner')", (account.person, wing))
        note(session, account.person, "create", wing, name)
    return WingAccess(wing, uid, name, key, "owner")


def list_wings(database: TeamDatabase, account: Account) -> list[WingAccess]:
    """Return the wings that a person may read, by name."""
    with database.as_person(account.person) as session:
        rows = session.execute(
            "SELECT wing.id, wing.uid, wing.name, wing.key, member.role FROM team.wing JOIN team.member"
            " ON member.wing = wing.id WHERE member.person = %s ORDER BY wing.name, wing.id",
            (account.person,),
        ).fetchall()
    return [WingAccess(*row) for row in rows]


def find_wing(database: TeamDatabase, account: Account, uid: bytes) -> WingAccess:
    """Return a wing by id. Raises NotFound, with the same words for one that is not there and one of others."""
    for wing in list_wings(database, account):
        if wing.uid == uid:
            return wing
    raise NotFound("There is no such wing on the team server, or it is not shared with you.")


def set_member(database: TeamDatabase, account: Account, access: WingAccess, name: str, role: str | None) -> None:
    """Give a person a role in a wing; None takes it away. Raises NotAllowed unless the account owns the wing."""
    access.require("owner")
    if role is not None and role not in ROLES:
        raise UsageError(f"A role is one of {', '.join(ROLES)}.")
    with database.as_server() as session:
        person = find_person(session, name)
        if person == account.person:
            raise UsageError("You cannot change your own role; another owner can.")
        if role is None:
            session.execute("DELETE FROM team.member WHERE person = %s AND wing = %s", (person, access.wing))
        else:
            session.execute(
                "INSERT INTO team.member(person, wing, role) VALUES (%s, %s, %s)"
                " ON CONFLICT (person, wing) DO UPDATE SET role = excluded.role",
                (person, access.wing, role),
            )
        note(session, account.person, "member", access.wing, f"{name}: {role or 'none'}")


def find_person(session: Session, name: str) -> int:
    """Return a person by name; raises NotFound."""
    row = session.execute("SELECT id FROM team.person WHERE name = %s", (name,)).fetchone()
    if row is None:
        raise NotFound(f"Nobody called '{name}' is in the team.")
    return int(row[0])


def charge(database: TeamDatabase, account: Account, size: int, limit: int = BYTES_A_DAY) -> None:
    """Count bytes that a person sends. Raises QuotaExceeded if they have sent as much as they may today."""
    with database.as_server() as session:
        row = session.execute(
            "INSERT INTO team.quota AS quota(person, day, bytes) VALUES (%s, current_date, %s)"
            " ON CONFLICT (person, day) DO UPDATE SET bytes = quota.bytes + excluded.bytes RETURNING bytes",
            (account.person, size),
        ).fetchone()
        if row is not None and row[0] > limit:
            raise QuotaExceeded(
                f"You have sent {limit // 1024 // 1024} MiB to the team today, which is the limit; the rest can be "
                "sent tomorrow."
            )


def record(database: TeamDatabase, account: Account, verb: str, wing: int | None = None, detail: str = "") -> None:
    """Write one line of the audit log, in a transaction of its own: also for what was refused."""
    with database.as_server() as session:
        note(session, account.person, verb, wing, detail)


def note(session: Session, person: int, verb: str, wing: int | None = None, detail: str = "") -> None:
    """Write one line of the audit log in a session of the server."""
    session.execute(
        "INSERT INTO team.audit(person, verb, wing, detail) VALUES (%s, %s, %s, %s)",
        (person, verb, wing, detail[:500]),
    )


@frozen
class AuditEntry:
    """One line of the audit log; `at` are microseconds since 1970."""

    at: int
    person: str
    verb: str
    wing: str
    detail: str


def read_log(database: TeamDatabase, account: Account, limit: int) -> list[AuditEntry]:
    """Return what the person did, and what anybody did in the wings that they maintain; newest first."""
    names = {access.wing: access.name for access in list_wings(database, account) if access.role in ROLES[2:]}
    with database.as_server() as session:
        rows = session.execute(
            "SELECT (extract(epoch FROM audit.at) * 1000000)::bigint, person.name, audit.verb, audit.wing, audit.detail"
            " FROM team.audit JOIN team.person ON person.id = audit.person"
            " WHERE audit.person = %s OR audit.wing = ANY (%s::int[]) ORDER BY audit.id DESC LIMIT %s",
            (account.person, [*names], limit),
        ).fetchall()
    return [AuditEntry(at, person, verb, names.get(wing, ""), detail) for at, person, verb, wing, detail in rows]


def check_name(name: str) -> str:
    """Return the name of a person or a wing, without space around it; raises UsageError if it is none."""
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError(f"A name must be printable, on one line, and at most {LONGEST_NAME} characters long.")
    return name


def _new_token(session: Session, person: int, device: bytes | None, scope: Scope, days: int) -> str:
    token = secrets.token_urlsafe(32)
    session.execute(
        "INSERT INTO team.token(hash, person, device, scope, expires_at)"
        " VALUES (%s, %s, %s, %s, now() + make_interval(days => %s))",
        (_hash(token), person, device, scope, days),
    )
    return token


def _hash(token: str) -> bytes:
    return blake2b(token.encode("utf-8", "replace"), digest_size=32, person=b"palazzo team tok").digest()
