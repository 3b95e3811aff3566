"""Passwords in a command's options: `mysql -pX`, `sshpass -p X`, `curl -u user:X`, `echo X | sudo -S`.

Owns the table of programs and of the options that take a password. Each function gets a text and the position of ` -`
in it, and examines only that line, within a bounded distance in both directions.
"""

from __future__ import annotations

import re

from palazzo.security.placeholders import is_stand_in
from palazzo.text.lazy_patterns import make_regex

RuleSpan = tuple[int, int, str]

_PASSWORD_OPTIONS = {
    "p": """
        sshpass mosquitto_pub mosquitto_sub mongo mongosh mongodump mongorestore mongoexport mongoimport psexec docker podman
        buildah skopeo helm nerdctl crane oras cqlsh nodetool az oc cf twine cypher-shell evil-winrm crackmapexec nxc
        netexec smbmap rdesktop ncftpput ncftpget ncftp lftp rabbitmqadmin ansible-vault cbq influx couchbase-cli hydra
        useradd usermod exp imp sonar-scanner snowsql pscp plink kinit artifactory jf cadaver kubectl aria2c flyway
        liquibase keytool xfreerdp svn wpscan nmcli ipmitool cloudflared gh glab tea
        """,
    "P": "mosquitto_pub mosquitto_sub unzip zip zipcloak sqlcmd bcp tsql isql osql ipmitool p4 ssh-keygen pdftotext",
    "a": "redis-cli valkey-cli",
    "w": "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd ldapcompare ldapmodrdn",
    "s": "ldappasswd",
    "k": "openssl ccrypt",
    "N": "ssh-keygen",
    "c": "snmpget snmpwalk snmpset snmpbulkwalk snmpgetnext snmptranslate snmptable snmpstatus snmptrap",
    "A": "snmpget snmpwalk snmpset snmpbulkwalk snmpgetnext snmptable snmpstatus snmptrap",
    "X": "snmpget snmpwalk snmpset snmpbulkwalk snmpgetnext snmptable snmpstatus snmptrap",
}
_GLUED_OPTIONS = {
    "p": """
        mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlsh mysqlpump mysqlbinlog mysqlslap mariadb
        mariadb-dump mariadb-admin mycli mydumper sshpass 7z 7za 7zz rar unrar rdesktop
        """,
    "h": "rar 7z",
    "P": "zip unzip",
}
"""Programs that accept a password directly after the option letter."""
_LOGIN_OPTIONS = {
    "u": "curl wget lftp ab siege http https xh ntlm_auth wsl aria2c ncat hey oha",
    "U": "curl smbclient rpcclient net nmblookup smbget smbcacls",
    "a": "http https xh httpie auth",
    "A": "ab siege",
    "-user": "curl wget smbclient jenkins-cli",
    "-proxy-user": "curl",
    "auth": "jenkins-cli jenkins-cli.jar",
    "-auth": "http https nats jenkins-cli arangosh",
}
"""Options that take a user and a password, separated by `:`, `,` or `%`."""
_SUBCOMMAND = dict.fromkeys(
    ("docker", "podman", "buildah", "skopeo", "helm", "nerdctl", "crane", "az", "oc", "cf"), "login"
)
"""Programs whose `-p` is a password only in this subcommand: `docker run -p` maps a port."""


def _programs(table: dict[str, str]) -> dict[str, frozenset[str]]:
    return {option: frozenset(names.split()) for option, names in table.items()}


_PASSWORDS, _ATTACHED_PROGRAMS, _LOGINS = map(_programs, (_PASSWORD_OPTIONS, _GLUED_OPTIONS, _LOGIN_OPTIONS))
_LETTERS = frozenset(option[0] for table in (_PASSWORDS, _LOGINS, _ATTACHED_PROGRAMS) for option in table) | {
    "S",
    "b",
    "n",
}
OPTION_LETTERS = f"(?:[{''.join(sorted({letter.lower() for letter in _LETTERS - {'-'}}))}]|-[upaswb])"
"""A regular expression for what follows the ` -` of each of these options, in lower case."""
_OPTION = make_regex(
    r" -(?P<name>-?[A-Za-z][\w-]{0,24})(?P<glue>[ =]{1,3})(?:(?P<quote>\\?[\"'])(?P<quoted>[^\n\"']{1,200}?)(?P=quote)|(?P<plain>[^\s\"'|;`]{1,200}))"
)
_GLUED_VALUE = make_regex(
    r" -(?P<name>hp|[phP])(?:(?P<quote>[\"'])(?P<quoted>[^\n\"']{1,200})(?P=quote)|(?P<plain>[^\s\"'|;&`)]{3,200}))"
)
_LOGIN = make_regex(r"(?P<user>[^\s:,%\"']{0,80})[:,%](?P<password>.{3,200})", re.DOTALL)
_USER_AND_PASSWORD = make_regex(r"[A-Za-z]\w{1,30}:(?=[^\s:]*[\d!#$%&*+@^~-])[^\s:/]*[A-Za-z][^\s:/]*")
_SEGMENT = make_regex(r"[|;&`\n(]|\$\(|\\n")
_NAME = make_regex(r"(?<![\w.-])(?:[\w.-]{0,60}/)?([A-Za-z0-9][\w.-]{1,30})(?=\s)")
_PASSWORD_PIPE = make_regex(
    r"(?:echo|printf)(?: -[neE]{1,3})?(?: [\"']%s(?:\\n)?[\"'])? {1,3}"
    r"(?:(?P<quote>[\"'])(?P<quoted>[^\n\"'|]{3,200}?)(?:\\n)?(?P=quote)|(?P<plain>[^\s\"'|;&]{3,200})) {0,3}\|"
    r"(?:[^|\n]{0,80}\|)? ?(?:sudo (?!-S)(?:-\w+ )?)?(?P<command>[^|\n;&]{1,120})"
)
_PASSWORD_COMMAND = make_regex(r"pass(?:word)?-(?:file|command)[= ][\"'<(]{0,2}\Z")
_PRINT_COMMAND = make_regex(r"(?:echo|printf)(?: -n)? [\"']?([^\s\"')]{3,200})")
_READER = make_regex(
    r"(?:sudo -S|su\b|kinit|cryptsetup|passwd|smbpasswd|p4 |vncpasswd|(?:\S{1,40} ){1,3}login|[^|]{0,100}(?:-stdin|-with-token|passphrase-fd|pass-stdin"
    r"|passin stdin|pass stdin|passout stdin|-password -|auth))"
)
"""The program that reads a password from the text before the pipe."""
_HTPASSWD = make_regex(r"(?:ht|_)passwd (?:-\w{1,8} ){0,4}?(?:[^\s\"'-][^\s\"']{0,100} ){1,2}[\"']?([^\s\"']{3,100})")
_SECURE_STRING = make_regex(r"ConvertTo-SecureString (?:-String )?([\"'])([^\"'\n]{3,200})\1\Z", re.IGNORECASE)


def find_command_password(text: str, at: int) -> RuleSpan | None:
    """Return the password that a command gets from the option whose ` -` is at `at`."""
    letter = text[at + 2 : at + 3]
    if letter == "-":
        letter = text[at + 2 : at + 4]
        if letter not in ("-u", "-p", "-a", "-s", "-w", "-b"):
            return None
    elif letter not in _LETTERS:
        return None
    line = max(text.rfind("\n", max(0, at - 300), at) + 1, at - 300, 0)
    prefix = text[line:at]
    return (
        _option(text, at, prefix)
        or _find_attached_password(text, at, prefix)
        or _htpasswd(text, at, letter, line)
        or _secure_string(text, at, letter, prefix, line)
    )


def _programs_before(prefix: str) -> tuple[str, list[str]]:
    """Return the command that an option belongs to, and the program names in it."""
    cut = 0
    for end in _SEGMENT.finditer(prefix):
        cut = end.end()
    segment = prefix[cut:] + " "
    return segment, [name.removesuffix(".exe").removesuffix(".jar") for name in _NAME.findall(segment)]


def _takes(table: dict[str, frozenset[str]], option: str, segment: str, names: list[str]) -> bool:
    programs = table.get(option)
    return programs is not None and any(
        name in programs and f" {_SUBCOMMAND.get(name, '')}" in segment for name in names
    )


def _value(match: re.Match[str]) -> tuple[int, int]:
    return match.span("quoted" if match["quoted"] is not None else "plain")


def _option(text: str, at: int, prefix: str) -> RuleSpan | None:
    match = _OPTION.match(text, at)
    if not match:
        return None
    start, end = _value(match)
    if match["name"] == "-body":
        is_secret = " secret set " in prefix[-120:]
        return (start, end, "secret") if is_secret and _is_given(text[start:end]) else None
    if match["name"] not in _PASSWORDS and match["name"] not in _LOGINS:
        return None
    segment, names = _programs_before(prefix)
    if match["name"] in "pPw" and _is_beside_user(text, segment, names, end) and _is_login_password(text[start:end]):
        return start, end, "password"
    if _takes(_PASSWORDS, match["name"], segment, names) and _is_given(text[start:end]):
        return start, end, "password"
    is_login = _takes(_LOGINS, match["name"], segment, names) or ("auth" in match["name"] and "jenkins-cli" in segment)
    if is_login or (match["name"] == "-user" and _USER_AND_PASSWORD.fullmatch(text, start, end)):
        login = _LOGIN.fullmatch(text[start:end])
        if login and login["user"] != login["password"] and _is_given(login["password"]) and "://" not in login[0]:
            return start + login.start("password"), end, "password"
    return None


def _is_beside_user(text: str, segment: str, names: list[str], end: int) -> bool:
    """Whether the command also gets a user, so that its `-p` is not a port, path or pattern."""
    user = _USER_OPTION.search(segment) or _USER_OPTION.match(text, end)
    return user is not None and not _NO_LOGIN.intersection(names)


_USER_OPTION = make_regex(r" --?(?:u|U|l|user|username|login)[ =][\"']?[A-Za-z][\w.@\\-]{1,60}[\"']?(?=\s|\Z)")
_NO_LOGIN = frozenset(
    """
    psql pg_dump pg_dumpall pg_restore pg_isready createdb dropdb sudo su journalctl git mkdir cp rsync pytest python ssh
    scp sftp patch perl read ps top install mysql mysqldump mysqladmin mysqlimport mariadb mycli useradd run exec
    """.split()
)
"""Programs that take a user, but whose `-p` is not a password."""


def _is_login_password(value: str) -> bool:
    return _is_given(value) and len(value) >= 4 and not value.isdigit() and value[:1] not in "-/." and ":" not in value


def _find_attached_password(text: str, at: int, prefix: str) -> RuleSpan | None:
    match = _GLUED_VALUE.match(text, at)
    if not match:
        return None
    segment, names = _programs_before(prefix)
    if not _takes(_ATTACHED_PROGRAMS, match["name"][-1] if match["name"] == "hp" else match["name"], segment, names):
        return None
    start, end = _value(match)
    return (start, end, "password") if _is_given(text[start:end]) and text[start] not in "-=" else None


def find_piped_password(text: str, at: int) -> RuleSpan | None:
    """Return what the `echo` or `printf` at `at` passes to a command that reads a password."""
    if _PASSWORD_COMMAND.search(text, max(0, at - 40), at):
        print_match = _PRINT_COMMAND.match(text, at)
        return (*print_match.span(1), "password") if print_match and _is_given(print_match[1]) else None
    pipe_match = _PASSWORD_PIPE.match(text, at)
    if not pipe_match or not _READER.match(pipe_match["command"].strip()):
        return None
    start, end = _value(pipe_match)
    return (start, end, "password") if _is_given(text[start:end]) else None


def _htpasswd(text: str, at: int, letter: str, line: int) -> RuleSpan | None:
    if letter not in "bn":
        return None
    start = text.rfind("passwd", line, at + 1)
    match = _HTPASSWD.search(text, start - 2) if start >= 2 else None
    return (*match.span(1), "password") if match and match.start(1) > at and _is_given(match[1]) else None


def _secure_string(text: str, at: int, letter: str, prefix: str, line: int) -> RuleSpan | None:
    match = _SECURE_STRING.search(prefix) if letter == "A" else None
    return (line + match.start(2), line + match.end(2), "password") if match and _is_given(match[2]) else None


def _is_given(value: str) -> bool:
    return len(value) >= 3 and not is_stand_in(value) and not (value.isalpha() and value.isupper())
