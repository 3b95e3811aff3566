"""The settings of sign-on: a TOML file that whoever runs the server writes. Secrets are not in it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.team import identity_provider
from palazzo.team.protocol import ROLES, SCOPES
from palazzo.team.server.accounts import MEMBER_DAYS


@frozen
class SignOnSettings:
    """Who may sign on, and by which provider.

    `url` is this server's address as people give it. `person` is the claim by which people are known: their verified
    email address, or the provider's own id (`sub`). With `domains`, only verified addresses there; with `groups`, only
    people in one of them, by `groups_claim`. With `admits_new_people`, somebody unknown becomes a person of the team,
    with these roles in these `wings`; of several wings with one name, in the oldest. `days` are until one signs on
    again.
    """

    issuer: str
    client_id: str
    url: str
    client_secret: str = field(default="", repr=False)
    person: Literal["email", "sub"] = "email"
    domains: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    groups_claim: str = "groups"
    scopes: tuple[str, ...] = ("openid", "email")
    device_flow: bool = True
    days: int = MEMBER_DAYS
    admits_new_people: bool = False
    wings: Mapping[str, str] = field(default_factory=dict)

    @property
    def needs_email(self) -> bool:
        """Return whether a verified address must be in the ID token."""
        return self.person == "email" or bool(self.domains)


_TEXTS = ("issuer", "client_id", "url", "person", "groups_claim")
_LISTS = ("domains", "groups", "scopes")
_FLAGS = ("device_flow", "admits_new_people")
_NAMES = frozenset([*_TEXTS, *_LISTS, *_FLAGS, "days", "wings"])


def load_settings(path: Path, client_secret: str) -> SignOnSettings:
    """Read the settings. Raises UsageError, which names what is wrong."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"The settings of sign-on in {path} cannot be read ({reason}).") from None
    for is_wrong, problem in _find_problems(values):
        if is_wrong:
            raise UsageError(f"The settings of sign-on in {path}: {problem}.")
    lists = {name: tuple(values[name]) for name in _LISTS if name in values}
    if "domains" in lists:
        lists["domains"] = tuple(domain.lower().removeprefix("@") for domain in lists["domains"])
    url = values["url"].rstrip("/")
    return SignOnSettings(**{**values, **lists, "url": url}, client_secret=client_secret)


def _find_problems(values: dict[str, Any]) -> list[tuple[bool, str]]:
    """Return whether each problem is there, and what it is."""
    unknown_names = sorted(set(values) - _NAMES)
    url, issuer = (str(values.get(name, "")) for name in ("url", "issuer"))
    is_local = identity_provider.is_safe_address(url, True) and identity_provider.is_local_address(url)
    scopes, wings, days = values.get("scopes", ["openid"]), values.get("wings", {}), values.get("days", MEMBER_DAYS)
    are_scopes_known = _is_text_list(scopes) and "openid" in scopes and set(scopes) <= set(SCOPES)
    texts = {name: values.get(name, "-") for name in _TEXTS}
    missing = [name for name in ("issuer", "client_id", "url") if not values.get(name)]
    return [
        (bool(unknown_names), f"there is no setting '{', '.join(unknown_names)}'"),
        (bool(missing), f"'{', '.join(missing)}' is missing"),
        (not all(isinstance(text, str) and text for text in texts.values()), f"{', '.join(_TEXTS)} must be text"),
        (
            not all(_is_text_list(values.get(name, ["-"])) for name in _LISTS),
            f"{', '.join(_LISTS)} must be lists of text",
        ),
        (not all(isinstance(values.get(name, True), bool) for name in _FLAGS), f"{', '.join(_FLAGS)}: true or false"),
        (not identity_provider.is_safe_address(url, True), "'url' must be this server's https address"),
        (not identity_provider.is_safe_address(issuer, is_local), "'issuer' must be an https address"),
        (values.get("person", "email") not in ("email", "sub"), '\'person\' must be "email" or "sub"'),
        (not are_scopes_known, f"'scopes' must have openid, and may have {', '.join(SCOPES[1:])}"),
        (not (type(days) is int and 1 <= days <= MEMBER_DAYS), f"'days' must be 1 to {MEMBER_DAYS}"),
        (
            values.get("admits_new_people") is True and not (values.get("domains") or values.get("groups")),
            "'admits_new_people' needs 'domains' or 'groups', or everybody at the provider would come in",
        ),
        (
            not (isinstance(wings, dict) and all(role in ROLES for role in wings.values())),
            f"'wings' must have a role for each name: {', '.join(ROLES)}",
        ),
    ]


def _is_text_list(values: Any) -> bool:
    return isinstance(values, list) and bool(values) and all(isinstance(text, str) and text for text in values)
