"""Rules for clients of servers and databases: local if they query this machine's own servers. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from palazzo.security.build_programs import judge_tool_run
from palazzo.security.git_commands import OWN_REVISION
from palazzo.security.loopback import host_of, is_loopback, is_own_server, names_foreign_address, port_of
from palazzo.security.program_arguments import FOREIGN, PURE_OUTCOME, Outcome, plain_words, values_behind
from palazzo.security.project_paths import LOCAL_TEXT, OWN_FILE, UNKNOWN_TEXT
from palazzo.text.lazy_patterns import make_regex

if TYPE_CHECKING:
    from palazzo.security.command_trust import Shell


_CLIENT_VALUES = frozenset(
    """
    -H --header -d --data --data-raw --data-binary --data-urlencode --json -X --request -o --output -u --user -A
    --user-agent -e --referer -b --cookie -c --cookie-jar -F --form -m --max-time -w --write-out --connect-timeout
    --retry --retry-delay -T --upload-file --form-string -D --dump-header -r --range --cacert --cert --key -O-value
    -t -n -P --post-data --method --body-data --timeout --tries -z --limit-rate -C --session -a --auth -A-value
    --body -q-value -t-value --duration --rate --method --import-path -proto -import-path -plaintext-value -rate
    -duration -targets-value --retry-max-time --ciphers --max-redirs -U -y
    """.split()
)


_CLIENT_DENIED = make_regex(
    "-x$|--proxy|--preproxy|--socks|--connect-to|--resolve|--doh|-K$|--config|--unix-socket|--abstract-unix|-i$|--input-file|--next|-k-value|--proto-redir|--url-query|--variable|--base|-B$|--execute|--interface|--dns|--netrc|--parallel-immediate|-e$"
)


def judge_client(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge curl and similar programs: local if every address is this machine's own server, or a project file."""
    plain: list[str] = []
    skip = ""
    is_resolved_here = False
    for word in arguments:
        if skip:
            if skip in ("--resolve", "--connect-to"):
                if not _resolves_here(word):
                    return FOREIGN
                is_resolved_here = True
            elif word.startswith("@") and not shell.is_own(word[1:]):
                return FOREIGN
            skip = ""
        elif word in ("--resolve", "--connect-to") and name == "curl":
            skip = word
        elif word.startswith("-") and word != "-":
            if _is_denied_option(name, word):
                return FOREIGN
            if word.startswith("--url="):
                plain.append(word[6:])
            elif (
                word in _CLIENT_VALUES
                and not (name in ("wget",) and word in ("-c", "-q", "-r", "-d", "-b", "-A", "-w-"))
            ) or (re.fullmatch(r"-[a-zA-Z]*[oXHduAmwT]", word) and name in ("curl",)):
                skip = word
        else:
            plain.append(word)
    if name in ("http", "https", "xh", "xhs", "curlie") and plain:
        methods = [word for word in plain[:1] if re.fullmatch(r"[A-Za-z]{3,7}", word) and len(plain) > 1]
        plain = plain[len(methods) :][:1]
    elif name in ("nc", "ncat", "netcat", "telnet") or name == "grpcurl":
        plain = plain[:1]
    if not plain or (has_input and name in ("wget",) and "-i" in arguments):
        return FOREIGN
    if is_resolved_here and len(plain) == 1:
        return PURE_OUTCOME
    return Outcome(all(_is_own_address(shell, word, name) for word in plain), bool(plain[0].startswith("file:")))


def _resolves_here(word: str) -> bool:
    """Whether curl's `--resolve` or `--connect-to` leads to this machine."""
    host = word.rpartition(":")[2] if not word.endswith("]") else word[word.rfind("[") :].strip("[]")
    return is_loopback(host) or is_loopback(word.split(":")[-2] if word.count(":") > 2 else "")


def _is_denied_option(name: str, word: str) -> bool:
    if word in ("-i", "-e", "-k", "-B") and name == "curl":
        return False
    if name in ("nc", "ncat", "netcat") and word in ("-i", "-e", "-l", "-k"):
        return word in ("-e", "-l")
    return _CLIENT_DENIED.match(word) is not None or (
        word.startswith("-") and names_foreign_address(word) and "=" not in word
    )


def _is_own_address(shell: Shell, word: str, name: str) -> bool:
    if word.lower().startswith("file://"):
        return shell.is_own(re.sub(r"^file://(?:localhost)?", "", word, flags=re.IGNORECASE))
    if name in ("curl", "wget", "lynx", "w3m") and word == "-":
        return True
    authority = re.match(r"(?:\w+://)?[^/?#]*", word)
    if authority and re.search(f"[{UNKNOWN_TEXT}{LOCAL_TEXT}{OWN_FILE}]", authority[0]):
        return False
    word = re.sub(f"[{UNKNOWN_TEXT}{LOCAL_TEXT}{OWN_FILE}{OWN_REVISION}]", "0", word)
    if shell.own.has_host(host_of(word)):
        return True
    if not is_own_server(word):
        return False
    return not shell.is_foreign_port(port_of(word) or "80")


def sqlite_command(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge sqlite3: local for an in-memory database, or for the schema of a database in the project."""
    plain = plain_words(arguments, frozenset(("-cmd", "-separator", "-init", "-newline", "-nullvalue")))
    is_memory = plain[:1] == [":memory:"] and not re.search(
        r"readfile|\.import|\.read|attach|load_extension|\.shell|\.system|\.open|fsdir",
        " ".join(arguments),
        re.IGNORECASE,
    )
    if len(plain) == 2 and _SCHEMA.fullmatch(plain[1].strip()) and not has_input:
        place = shell.plain(plain[0])
        return Outcome(bool(place) and shell.project.is_inside(place), False)
    return Outcome(is_memory and not any(word in ("-cmd", "-init") for word in arguments), False)


def openssl_command(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge openssl: local if it only computes, or connects to this machine's own server."""
    if arguments[:1] and arguments[0] in (
        "rand",
        "version",
        "dgst",
        "passwd",
        "sha256",
        "md5",
        "base64",
        "genrsa",
        "enc",
        "x509",
        "req",
    ):
        return judge_tool_run(shell, arguments)
    if arguments[:1] == ["s_client"]:
        return Outcome(
            all(is_own_server(word) for word in values_behind(arguments, ("-connect",)) or [""])
            and "-proxy" not in arguments,
            False,
        )
    return FOREIGN


_SCHEMA = make_regex(
    r"\.(?:schema|tables|indexes|indices|help|databases|dbinfo)\b[ \w]*|\\(?:d[tisvmnfu]?\+?(?: [\w.]+)?|l|conninfo)"
)


def ask_database(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge psql: local only for the schema of a local database; anyone may have written its rows."""
    hosts = values_behind(arguments, ("-h", "--host"))
    queries = values_behind(arguments, ("-c", "--command"))
    is_here = all(host in ("localhost", "127.0.0.1") for host in hosts) and not any("://" in word for word in arguments)
    return Outcome(
        is_here and bool(queries) and not has_input and all(_SCHEMA.fullmatch(query.strip()) for query in queries),
        False,
    )
