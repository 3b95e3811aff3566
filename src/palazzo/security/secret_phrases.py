"""Secrets after a fixed phrase: credentials in an address, `Authorization:`, a private key's first line.

Each function gets a text and the position of its phrase in it, in any case, and examines only a bounded stretch around
it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from palazzo.security.command_passwords import find_command_password, find_piped_password
from palazzo.security.password_lists import find_pgpass_line
from palazzo.security.password_statements import find_field, find_pin, is_strong, looks_chosen
from palazzo.security.placeholders import is_default_login, is_public_example, is_stand_in
from palazzo.security.secret_names import find_value_of
from palazzo.security.token_forms import AZURE_CLIENT_SECRET, KEY_MATERIAL, PRIVATE_KEY, PRIVATE_KEY_TAIL
from palazzo.text.lazy_patterns import make_regex

RuleSpan = tuple[int, int, str]
"""The start and end of a secret, and the rule that found it."""

_CREDENTIALS = make_regex(r"://([^\s/@:\"'`<>?#]{0,100}):([^\s/@\"'`<>]{3,200})@(?=[\w.\[$-])")
_DATABASE = make_regex(
    r"(?:mongodb(?:\+srv)?|postgres(?:ql)?|mysql|mariadb|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse|s?ftp|smb|ldaps?|mqtts?|nats)\Z",
    re.I,
)
_ODD_CREDENTIALS = make_regex(
    r"://([^\s/@:\"'`<>?#]{0,100}):(?!\d{1,5}[/?])([^\s\"'`<>]{3,200})@(?=[\w.\[-]{1,200}(?:[:/?\s\"'`<>,;)]|$))"
)
_STAND_IN = make_regex(
    r"[$<{%*\[(]|(?:password|passwd|pass|pwd|secret|token|xxx+|\.\.\.|port)\Z|\d{2,5}\Z", re.IGNORECASE
)
_AUTHORIZATION = make_regex(
    r"auth(?:orization)?\\{0,16}[\"']?[ ]{0,4}[:=,][ ]{0,4}\\{0,16}[\"'`]?"
    r"(?!basic|digest|negotiate|aws4)[A-Za-z][\w-]{2,24}[ :=]{1,3}(?:token=)?\\{0,4}[\"']?([\w.~+/=!:-]{12,4096})",
    re.IGNORECASE | re.ASCII,
)
_BEARER = make_regex(r"bearer[ ]{1,3}([A-Za-z0-9._~+/-]{20,4096}=*)", re.IGNORECASE)
_BASIC = make_regex(
    r"auth(?:orization)?\\{0,16}[\"']?[ ]{0,4}[:=,][ ]{0,4}\\{0,16}[\"'`]?(?:basic[ ]{1,3})?"
    r"([A-Za-z0-9+/]{8,1024}={0,2})",
    re.IGNORECASE,
)


def _credentials(text: str, at: int) -> RuleSpan | None:
    odd = _DATABASE.search(text, max(0, at - 20), at) is not None
    match = (_ODD_CREDENTIALS if odd else _CREDENTIALS).match(text, at)
    if not match:
        token = _TOKEN_ALONE.match(text, at)
        return (*token.span(1), "url-password") if token else _find_signature(text, at)
    user, password = match.groups()
    if (
        _STAND_IN.match(password)
        or is_stand_in(password)
        or is_default_login(user, password, text[match.end() : match.end() + 60])
    ):
        return None
    return (*match.span(2), "url-password")


_TOKEN_ALONE = make_regex(
    r"://((?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Za-z])[A-Za-z0-9_-]{24,200})@(?=[\w.-]{3,100}\.[a-z])(?![\w.-]{0,60}ingest)"
)


def _find_signature(text: str, at: int) -> RuleSpan | None:
    """Return the signature of an address that grants access to its holder."""
    if "ignature=" not in text[at : at + 1200]:
        return None
    match = _SIGNATURE.match(text, at)
    return (*match.span(1), "signature") if match else None


_SIGNATURE = make_regex(r"://[^\s\"'<>]{1,1100}?[?&](?:X-Amz-|X-Goog-|X-Oss-)?[Ss]ignature=([\w%+/-]{27,1024}={0,2})")


def _authorization(text: str, at: int) -> RuleSpan | None:
    match = _AUTHORIZATION.match(text, at)
    if match and _is_whole_token(match[1]):
        return (*match.span(1), "authorization")
    basic = _BASIC.match(text, at)
    if not basic or not _is_user_and_password(basic[1]) or is_public_example(basic[1] + "=" * (-len(basic[1]) % 4)):
        return None
    return (*basic.span(1), "authorization")


def _is_user_and_password(body: str) -> bool:
    try:
        name, colon, word = base64.b64decode(body + "=" * (-len(body) % 4), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return False
    return bool(name and colon and word) and (name + word).isprintable() and not is_stand_in(word)


def _bearer(text: str, at: int) -> RuleSpan | None:
    match = _BEARER.match(text, at)
    return (*match.span(1), "authorization") if match and _is_whole_token(match[1]) else None


def _is_whole_token(token: str) -> bool:
    """Whether the token is more than a shortened example: manuals print its first letters and three dots."""
    return any(map(str.isdigit, token)) and not (token.endswith("...") and len(token) < 40)


def find_private_key(text: str, at: int) -> RuleSpan | None:
    """Return the private key whose first or last line has `PRIVATE KEY` at `at`."""
    begin = text.rfind("---- BEGIN", max(0, at - 50), at)
    begin = max(begin, text.rfind("-----", max(0, at - 50), at))
    if begin < 0:
        return None
    if text.startswith("-----END", begin):
        tail = PRIVATE_KEY_TAIL.search(text, max(0, begin - _LONGEST_TAIL), at)
        return (*tail.span(1), "private-key") if tail and KEY_MATERIAL.search(tail[1]) else None
    match = PRIVATE_KEY.match(text, begin)
    return (*match.span(), "private-key") if match and KEY_MATERIAL.search(match[1] or match[2]) else None


_LONGEST_TAIL = 4096


def _azure(text: str, at: int) -> RuleSpan | None:
    match = AZURE_CLIENT_SECRET.match(text, at - 4) if at > 3 and text[at] == "Q" else None
    return (*match.span(), "azure-client-secret") if match else None


def _login(text: str, at: int) -> RuleSpan | None:
    """Find `"AUTH" "user" "X"` of Redis, `NEO4J_AUTH=user/X`, `ldap_default_authtok = X`, `_auth=…` of npm."""
    match = _AUTH.match(text, at)
    if not match:
        return None
    group = match.lastgroup or ""
    value = match[group]
    if is_stand_in(value) or (group == "redis" and not text.startswith("AUTH", at)):
        return None
    if group == "master" and not _AUTH_BEFORE.search(text, max(0, at - 20), at + 4):
        return None
    if group == "pair" and not (looks_chosen(value) or text.startswith("=(", at + 4)):
        return None
    return (*match.span(group), "password")


_AUTH = make_regex(
    r"auth(?:[ ](?:plain|login)[ ]{1,3}(?P<sasl>[A-Za-z0-9+/]{8,300}={0,2})(?![\w+/=])"
    r"|[ ]{1,3}(?:default )?[\"']?(?P<master>[^\s\"']{4,100})|:(?P<oauth>[a-z0-9]{30})(?![a-z0-9])|:token\n(?:[^\n]{0,120}\n)?(?P<uuid>[0-9a-f-]{36})"
    r"|\w{0,10}\(?=?\(\s?[\"'][^\"'\n]{1,60}[\"']\s?,\s?(?:Some\()?[\"'](?P<pair>[^\"'\n]{3,100})[\"']|\"(?: \"[^\"\n]{1,60}\")? \"(?P<redis>[^\"\n]{4,200})\"|=[\w.-]{1,40}/(?P<slash>[^\s\"']{4,100})"
    r"|(?<=_auth)=(?P<variable>(?=[a-z+/_-]{0,40}\d)[A-Za-z0-9+/_-]{20,100}={0,2})(?![\w.-])|tok(?:en)?[ ]{0,4}=[ ]{0,4}(?P<token>[^\s\"']{6,200}))",
    re.IGNORECASE,
)


_AUTH_BEFORE = make_regex(r"(?:\A|\n|> ?)(?:[a-z-]{0,9}masterauth|AUTH)\Z")


def _auth(text: str, at: int) -> RuleSpan | None:
    return (
        _authorization(text, at)
        or _login(text, at)
        or (find_field(text, at + 4, "secret") if text[at - 1 : at] == "_" else None)
    )


def _kennwort(text: str, at: int) -> RuleSpan | None:
    """Find the password after a word for it in another language written in Latin letters."""
    match = _LATIN_WORD.match(text, at)
    if not match:
        return None
    return find_value_of(text, at, match.end())


_LATIN_WORD = make_regex(
    r"kennwort\w{0,3}|wachtwoord\w{0,2}|contrase\wa|senha|claves?(?= ?(?:de|del|es|para|:))|mdp|psk|parola(?: d['’]ordine)?",
    re.IGNORECASE,
)


def _log_in(text: str, at: int) -> RuleSpan | None:
    """Find a login in a sentence (`creds: admin / X`), a call (`login("bot", "X")`) or a protocol (`LOGIN bob X`)."""
    match = _LOGIN_SAID.match(text, at)
    if match and match["value"].isalpha():
        return None
    match = match or _CALL_OF_TWO.match(text, at) or _ADDED_LOGIN.match(text, at)
    if not match and text.startswith("LOGIN ", at):
        match = _LOGIN_OF_IMAP.match(text, at)
    return _strong(match)


def _connection(text: str, at: int) -> RuleSpan | None:
    """Find a call that connects by user and password: `getConnection(url, "app", "X")`; `connect app/X` of Oracle."""
    match = _CALL_OF_TWO.match(text, at)
    if (
        match
        and (match["named"] or _ADDRESS.search(text, at, match.start("value")) or _is_third(text, at, match))
        and not is_stand_in(match["value"])
    ):
        return (*match.span("value"), "password")
    return _strong(match or _CONNECT.match(text, at))


def _at_host(text: str, at: int) -> RuleSpan | None:
    """Find `app:X@tcp(host)` of Go's drivers, `scott/X@//host` and `scott/X@host:1521` of Oracle's."""
    if not text.startswith(("@tcp(", "@unix("), at):
        prefix = text[max(0, at - 140) : at].lower()
        if "/" not in prefix[-40:] or not any(program in prefix for program in _ORACLE):
            return None
    match = _USER_BEFORE.search(text, max(0, at - 100), at)
    return (*match.span("value"), "url-password") if match and not is_stand_in(match["value"]) else None


def _strong(match: re.Match[str] | None) -> RuleSpan | None:
    if (
        not match
        or is_stand_in(match["value"])
        or not (looks_chosen(match["value"]) or _APP_PASSWORD.fullmatch(match["value"]))
    ):
        return None
    return (*match.span("value"), "password")


_LOGIN_SAID = make_regex(
    r"(?:login|log in|cred(?:ential)?|inlog\w*|zalog\w*|identifi\w*|zugangsdaten|anmeld\w*|acces\w*)s?\b[^\n:=(]{0,40}?(?:[ ]?[:=]| is| are| with| als| as| met| mit| avec| con| com| jako)[ ]{1,2}"
    r"(?:user(?:name)? )?[\"'`]?[\w.@-]{2,40}[\"'`]?(?:[ ]?[/:,][ ]?|[ ](?:and|und|et|y|e|i|en)[ ](?:password |pw )?)"
    r"[\"'`]?(?P<value>[^\s\"'`,;]{6,60})",
    re.IGNORECASE,
)
_LOGIN_OF_IMAP = make_regex(r"LOGIN [^\s]{1,80} \"?(?P<value>[^\s\"]{4,80})\"?(?=\r?\n|\\r|\Z)")


def _is_third(text: str, at: int, match: re.Match[str]) -> bool:
    """Whether a host and a user precede a literal: `mysql_connect("localhost", "shop", "X")`."""
    return _THREE_LITERALS.match(text, at, match.end()) is not None


_THREE_LITERALS = make_regex(
    r"connect\((?:\s{0,8}[\"'][^\"'\n]{1,60}[\"'],){2}\s{0,8}[\"'][^\"'\n]{5,100}[\"']\Z", re.IGNORECASE
)
_ADDRESS = make_regex(r"[\"'](?:\w{1,10}:){1,3}(?://|\w{2,10}=)")
_CALL_OF_TWO = make_regex(
    r"(?:(?P<named>superuser|wifi\.begin|ftp(?=\([^()\n]{1,100},[^()\n]{1,100},))|\w{0,20})s?\((?:[^()\n]{0,200}?,\s{0,8})?(?P<q>[\"'])[^\"'\n]{1,60}(?P=q)\s{0,2},\s{0,8}(?P<q2>[\"'])(?P<value>[^\"'\n]{3,100})(?P=q2)",
    re.IGNORECASE,
)
_CONNECT = make_regex(r"connect [A-Za-z]\w{1,30}/(?P<value>[^\s@\"'/]{4,60})(?=@| as sys)", re.IGNORECASE)
_ORACLE = ("sqlplus", "sqlldr", "expdp", "impdp", "oracle", "rman ")
_USER_BEFORE = make_regex(r"[\"'\s:@(]?[A-Za-z][\w.$-]{0,40}[:/](?P<value>[^\s\"'/@]{3,80})\Z")
_APP_PASSWORD = make_regex(r"[a-z]{4}(?: [a-z]{4}){3}")


def _find_sql_password(text: str, at: int) -> RuleSpan | None:
    match = _SQL_IDENTIFICATION.match(text, at)
    if not match or is_stand_in(match[2]):
        return None
    is_sql = match[1] is not None or _USER_OF_SQL.search(text, max(0, at - 80), at) is not None
    return (*match.span(2), "password") if is_sql else None


_SQL_IDENTIFICATION = make_regex(
    r"identified (?:with \S{1,60} )?(?:by|as) (?:password )?(\\{0,2}[\"'`])?([^\s\"'`;\\]{3,200})", re.IGNORECASE
)
_USER_OF_SQL = make_regex(
    r"\b(?:user|role|link|(?:grant\s.{1,40}|connect)\sto)\s\S{1,60}\s{1,4}\Z", re.IGNORECASE | re.DOTALL
)


def _community(text: str, at: int) -> RuleSpan | None:
    match = _COMMUNITY.match(text, at)
    if not match or is_stand_in(match[1]):
        return None
    directive = text[max(0, at - 20) : at].lower().endswith(("ro", "rw", "snmp-server ", "snmp ", "trap", "ro6"))
    return (*match.span(1), "password") if directive and match[1] not in ("string", "public") else None


_COMMUNITY = make_regex(r"community(?:-string)?[ ]{1,4}[\"']?([^\s\"']{4,100})", re.IGNORECASE)


def _log_in_or_connect(text: str, at: int) -> RuleSpan | None:
    match = _NETWORK_CREDENTIAL.match(text, at)
    if match and not is_stand_in(match["value"]):
        return (*match.span("value"), "password")
    return _log_in(text, at)


_ADDED_LOGIN = make_regex(r"(?<=sp_add)login N?'[^'\n]{1,60}', ?N?'(?P<value>[^'\n]{4,100})'", re.IGNORECASE)
_NETWORK_CREDENTIAL = make_regex(
    r"(?<=[a-z])Credentials?\(\s{0,4}([\"'])[^\"'\n]{1,60}\1,\s{0,4}\1(?P<value>[^\"'\n]{3,100})\1"
)


def _log_in_or_identified(text: str, at: int) -> RuleSpan | None:
    return _find_sql_password(text, at) or _log_in(text, at)


def _pair(text: str, at: int) -> RuleSpan | None:
    """Find `admin:X` in a sentence or an argument."""
    match = _PAIR.match(text, at)
    return (*match.span("value"), "password") if match and _is_pair(match["value"]) else None


def _is_pair(value: str) -> bool:
    return is_strong(value) and not is_stand_in(value) and not value.isalnum()


_PAIR = make_regex(r"(?<![\w/.-])(?:admin|root):(?P<value>[^\s\"'`,;:@/]{6,60})(?=[\s\"'`,;.)]|\Z)", re.IGNORECASE)


def _windows_option(text: str, at: int) -> RuleSpan | None:
    """Find the option `/p:X` of Windows programs."""
    return _first_value(_WINDOWS_OPTION, text, at)


_WINDOWS_OPTION = make_regex(r"(?<=\s)/r?p[: ](?P<value>[^\s\"'%/:]{4,100})(?=\s|\Z)", re.IGNORECASE)


def _net_use(text: str, at: int) -> RuleSpan | None:
    """Find `net use Z: \\\\srv\\share /user:D\\u X`."""
    return _first_value(_NET_USE, text, at)


_NET_USE = make_regex(
    r"net use [^\n]{1,120}?/user:\S{1,60} (?P<value>[^\s/*\"'][^\s\"']{3,60})(?=\s|\Z)", re.IGNORECASE
)


def _first_value(pattern: re.Pattern[str], text: str, at: int) -> RuleSpan | None:
    match = pattern.match(text, at)
    return (*match.span("value"), "password") if match and not is_stand_in(match["value"]) else None


def _acl(text: str, at: int) -> RuleSpan | None:
    """Find `ACL SETUSER a on >X` of Redis."""
    return _first_value(_ACL, text, at)


_ACL = make_regex(r"acl setuser [^\n>]{1,60} >(?P<value>[^\s\"']{4,100})", re.IGNORECASE)


def _short_label(text: str, at: int) -> RuleSpan | None:
    """Find `u: operator p: X`."""
    return _strong(_SHORT_LABEL.match(text, at)) if _USER_LABEL.search(text, max(0, at - 50), at) else None


_SHORT_LABEL = make_regex(r" p: [\"'`]?(?P<value>[^\s\"'`,;]{4,80})", re.IGNORECASE)
_USER_LABEL = make_regex(r"\bu(?:ser)?: \S{1,40}\Z", re.IGNORECASE)


def _answer_to_prompt(text: str, at: int) -> RuleSpan | None:
    """Find what an `expect` script sends at a password prompt."""
    return _first_value(_ANSWER, text, at)


_ANSWER = make_regex(
    r"spawn [^\n]{1,160}?[\n;][^\n]{0,60}?asswor[dt][^\n\w]{0,10}\s{0,8}\w{0,4}send \"(?P<value>[^\"\n\\$]{4,100})(?:\\{1,2}[rn])?\"",
    re.IGNORECASE,
)


def _added_user(text: str, at: int) -> RuleSpan | None:
    return _first_value(_ADDED_USER, text, at)


_ADDED_USER = make_regex(r"(?<=rabbitmqctl )add_user [\"']?[\w.-]{1,60}[\"']? [\"']?(?P<value>[^\s\"']{4,100})")


def _signing_key(text: str, at: int) -> RuleSpan | None:
    """Find the literal that a call signs or verifies with: `jwt.sign(payload, 'X')`."""
    return _first_value(_SIGNING_KEY, text, at)


_SIGNING_KEY = make_regex(
    r"jwt\.(?:sign|verify|encode|decode)\((?:[^()\n\"']{0,80}|\{[^{}\n]{0,200}\}),\s{0,8}(?P<q>[\"'])(?P<value>[^\"'\n]{8,200})(?P=q)",
    re.IGNORECASE,
)


def _at_colon(text: str, at: int) -> RuleSpan | None:
    """Find the password after the colon of `admin:X`, `net use … /user:u X` or ` p: X`, or before a port."""
    if text.startswith(":5432:", at):
        return find_pgpass_line(text, at)
    prefix = text[max(0, at - 5) : at].lower()
    if prefix == "/user":
        begin = max(0, at - 160)
        line = text[begin:at].lower().rfind("net use")
        return _net_use(text, begin + line) if line >= 0 else None
    return (
        _short_label(text, at - 2)
        if prefix.endswith(" p")
        else _pair(text, at - len("admin" if prefix == "admin" else "root"))
    )


BEFORE_COLON = r"(?:(?<=[ntr]:)(?:(?<=admin:)|(?<=root:)|(?<=/user:))|(?<= p:)(?= )|(?=5432:))"

PHRASES: dict[str, Callable[[str, int], RuleSpan | None]] = {
    "://": _credentials,
    "auth": _auth,
    "bearer": _bearer,
    "q~": _azure,
    " -": find_command_password,
    ":": _at_colon,
    **dict.fromkeys(("/p:", "/rp "), _windows_option),
    "acl setuser ": _acl,
    "spawn ": _answer_to_prompt,
    "rabbitmqctl add_user ": lambda text, at: _added_user(text, at + len("rabbitmqctl ")),
    "jwt.sign(": _signing_key,
    "jwt.verify(": _signing_key,
    "jwt.encode(": _signing_key,
    "jwt.decode(": _signing_key,
    "wifi.begin(": _connection,
    "ftp(": _connection,
    "superuser(": _connection,
    " pdo(": lambda text, at: _connection(text, at + 1),
    "echo ": find_piped_password,
    "printf ": find_piped_password,
    "kennwort": _kennwort,
    "wachtwoord": _kennwort,
    "contrase": _kennwort,
    "senha": _kennwort,
    "clave": _kennwort,
    "parola": _kennwort,
    "mdp": _kennwort,
    "psk": _kennwort,
    "pin": find_pin,
    "identif": _log_in_or_identified,
    "inlog": _log_in,
    "zugangsd": _log_in,
    "login": _log_in,
    "creds": _log_in,
    "credential": _log_in_or_connect,
    "connect": _connection,
    "@": _at_host,
    "community": _community,
}
"""Each phrase in lower case, and its check."""

OTHER_SCRIPTS = (
    *(
        ("о", "парол"),
        ("码", "密码"),
        ("碼", "密碼"),
        ("令", "口令"),
        ("ド", "パスワード"),
        ("밀", "비밀번호"),
        ("호", "암호"),
    ),
    *(("ł", "hasł"), ("ł", "Hasł"), ("ö", "lösenord"), ("ö", "Lösenord"), ("ş", "şifre"), ("ẩ", "mật khẩu")),
    *(("П", "Парол"), ("ü", "WLAN-Schlüssel"), ("ü", "Netzwerkschlüssel")),
)
"""Words for a password in other scripts, each with a letter that can be searched faster."""
