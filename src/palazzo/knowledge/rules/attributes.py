"""Rule for attributes of things, in sentences and configuration: version, port, path, state, quantity, name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from palazzo.knowledge import clause_values, clauses
from palazzo.knowledge.clauses import Clause, bag, cut
from palazzo.knowledge.modality import asserts
from palazzo.knowledge.rules.claim import Claim
from palazzo.knowledge.rules.noun_phrases import GENERIC, STOP, THING, is_thing, tidy
from palazzo.knowledge.statement_values import STATE, Value, ValueKind
from palazzo.knowledge.statements import Statement
from palazzo.text.lazy_patterns import make_regex

_IN_WORDS = make_regex(r"`([A-Za-z_][\w.-]{1,40})(?:\s?=\s?|:\s)([^`\s]{1,80})`")
_ENTRY = make_regex(
    r"""^(?:-\s+)?["']?([A-Za-z_/*@][\w./@*-]*(?:\ [\w./@-]+){0,3}?)["']?\s*(?:=>|:=|==|[:=])\s*(\S.*)$"""
)
_COLUMNS = make_regex(r"^([\w./@*-]+)(?:\s{2,}|\t)\s*(\S.*)$")
_CAMEL = make_regex(r"(?<=[a-z0-9])(?=[A-Z])|[_./-]+")
_VALUES: tuple[tuple[ValueKind, re.Pattern[str]], ...] = (
    ("boolean", make_regex(rf"^{STATE}$", re.IGNORECASE)),
    ("version", make_regex(r"^v?\d+\.\d+(?:\.\d+)*[\w.+-]*$|^[<>=~^]+\s?\d[\d.]*(?:,\s?[<>=~^]+\s?\d[\d.]*)?$")),
    ("path", make_regex(r"^(?:[a-z]+://\S+|~?/[\w./@-]+)$")),
    ("port", make_regex(r"^:?\d{2,5}$")),
    ("value", make_regex(r"^\d[\d,.]*(?:e-?\d+)?\s?(?:%|[A-Za-z]{1,4})?$")),
    ("name", make_regex(r"^@[\w/-]+$")),
)


_PAIRS = (
    make_regex(r'"([\w.@/-]{2,40})"\s*:\s*("[^"]{1,80}"|[\w.+-]+)'),  # JSON on one line
    make_regex(r"(?:^|\s)--([a-z][a-z-]{2,30})[ =]([^\s\"']+)"),  # options of a command
    make_regex(r"(?:^|[\s/\"'])([a-z][\w./-]*[a-z])[:@](v?\d[\w.-]*)(?=[\s\"',]|$)"),  # images, actions, packages
)
_LINES = (
    make_regex(r"^-\s+()\"?((?:[\d.]+:)?\d{2,5}:\d{2,5})\"?$"),
    _ENTRY,
    _COLUMNS,
    make_regex(r"^(?:FROM|EXPOSE|ENV|listen|root|server_name|user|workers?)\b()\s*(\S+?);?$"),
    make_regex(r"^([A-Za-z][\w-]+)\s+(?:version\s+)?(v?\d+(?:\.\d+)+\w*)(?:;|,|\s+.*)?$"),
    make_regex(r"^([A-Za-z][\w-]*(?: [\w-]+){0,2}) (on|off|yes|no|true|false|\d+[a-z]?);?$"),  # directives
)


def find(statement: Statement) -> Iterator[Claim]:
    """Yield the values that a statement gives."""
    if statement.setting == "entry":
        yield from _entries(statement)
        return
    if not _DIGITS.search(statement.text) and not (statement.mentions(_CUES) and _HINT.search(statement.text)):
        return
    for match in _IN_WORDS.finditer(statement.text):
        if asserts(statement, match.start(), match.end()):
            yield from _entry(statement, match[1], match[2])
    value_texts: set[str] = set()
    ports: set[tuple[str, frozenset[str]]] = set()
    for clause in clauses.clauses(statement):
        value = clause_values.value_of(clause)
        if value is not None and asserts(statement, clause.begin, clause.end):
            words = clause.words(value) or bag(value.unit if value.kind == "version" else "")
            if words and not (value.kind == "boolean" and _CESSATION.search(statement.text)):
                value_texts.add(value.text)
                ports.add((value.text, words))
                yield _fact(_claim(statement, clause, value, words), clause)
    yield from (claim for claim in _ports(statement) if (claim.object, claim.words) not in ports)
    if _FIGURES.search(statement.text):
        yield from _parts(statement, value_texts)
    for changed in _CHANGED.finditer(statement.text):
        clause = Clause(
            (changed["thing"] or changed["thing2"]).partition(" from ")[0].strip(" `"),
            "is",
            changed["value"] or changed["value2"],
        )
        value = clause_values.value_of(clause) or clause_values.value_within(clause.rest)
        if value and value.text not in value_texts and asserts(statement, changed.start(), changed.end()):
            words = clause.words(value)
            if words and value.kind != "boolean":
                yield replace(_claim(statement, clause, value, words), changed=True)
    for upgrade in _UPGRADE.finditer(statement.text):
        value = clause_values.value_of(Clause("", "is", upgrade["value"]))
        if value and value.kind == "version" and value.unit and asserts(statement, upgrade.start(), upgrade.end()):
            yield _claim(statement, Clause(value.unit, "", ""), value, bag(value.unit))
    for built in _BUILT.finditer(statement.text):
        value = clause_values.value_of(Clause("", "is", built["value"]))
        if value and value.kind == "version" and value.unit and asserts(statement, built.start(), built.end()):
            yield _claim(statement, Clause(value.unit, "", ""), value, bag(value.unit))
    for action in (
        *_SWITCH_ACTION.finditer(statement.text),
        *(_TURN_ACTION.finditer(statement.text) if statement.mentions(_TURNED_CUES) else ()),
    ):
        if asserts(statement, action.start(), action.end()):
            thing = action["thing"].strip(" `")
            state = "enabled" if action["state"].casefold() in _SWITCHED_ON else "disabled"
            words = bag(thing if action.re is _TURN_ACTION else cut(statement.text[action.start("thing") :]))
            if words:
                yield _claim(statement, Clause(thing, "is", action["state"]), Value("boolean", state), words)


_AT_PORT = make_regex(
    r"\b(?:(?:on|at|to|via|through|over|behind|using|under|auf|über|sur|en)\s+(?:the\s+)?)?(?:(?:tcp|udp|http|https|tls|local)\s+)?"
    r"(?:ports?|puerto|porta|porto)\s+[`:]*(\d{2,5})\b(?![.:/-]\d)"
    r"|\s(?:on|at|to)\s+`?:?(?!(?:19|20)\d\d\b)(\d{4,5})\b`?(?![\w:%/-]|[.,]\d|\s(?:ms|bytes|rows|files|requests|items|users|tests)\b)"
    r"|\s(?:on|at|to)\s+`?:(\d{2,5})\b",
    re.IGNORECASE,
)
_PORT_VERB = make_regex(
    r"\b(?:is|are|was|were|be|been|being|now|starts?|started|comes?|came|up|listen(?:s|ing|ed)?|bind(?:s|ing)?|bound|runs?|running"
    r"|serv(?:es?|ed|ing)|expos(?:es?|ed|ing)|reach(?:ed|able)|answer(?:s|ing|ed)?|open(?:s|ed)?|accept(?:s|ing)?|speaks?|wait(?:s|ing)?"
    r"|mov(?:ed|es)|available|published|mapped|forwarded|connections?|traffic|lives?|sits?|started|uses?|using|has|gets?|läuft"
    r"|lauscht|hört|écoute|escucha|ascolta|launch(?:es|ed)?|respond(?:s|ing)?|talks?|scrapes?|connects?|reached|changed|went)\b",
    re.IGNORECASE,
)
_URL_PORT = make_regex(r"\b[a-z]+://([a-z][\w-]*(?:\.[\w-]+)*):(\d{2,5})\b")
_NO_HOST = frozenset("localhost host example user".split())


def _ports(statement: Statement) -> Iterator[Claim]:
    """Yield ports after any verb: they belong to the words just before them, or before that verb."""
    for match in _AT_PORT.finditer(statement.text):
        port = match[1] or match[2] or match[3]
        if not asserts(statement, match.start(), match.end()):
            continue
        head = statement.text[: match.start()]
        begin = max((stop.end() for stop in _PART.finditer(head)), default=0)
        pieces = [bag(piece) for piece in _PORT_VERB.split(head[begin:])]
        words = next((piece for piece in reversed(pieces) if piece), frozenset())
        if not words and (label := _LABEL.match(head)):
            words = bag(label[1])
        if words and len(words) <= _MOST_WORDS:
            value = Value("port", port)
            subject = Clause(tidy(_PORT_VERB.sub(" ", head[begin:])), "", "")
            yield replace(_claim(statement, subject, value, words), about=words)
    for match in _URL_PORT.finditer(statement.text):
        host = match[1].partition(".")[0]
        if host not in _NO_HOST and asserts(statement, match.start(), match.end()):
            yield replace(_claim(statement, Clause(host, "", ""), Value("port", match[2]), bag(host)), about=bag(host))


_LABEL = make_regex(r"([^:.!?|]{2,40}?):\s")


def _parts(statement: Statement, value_texts: set[str]) -> Iterator[Claim]:
    """Yield values in parts of a sentence whose verb is not known."""
    begin = 0
    for stop in [*_PART.finditer(statement.text), None]:
        end = stop.start() if stop else len(statement.text)
        own = statement.text[begin:end]
        value = clause_values.value_within(own) if _FIGURES.search(own) else None
        if value is not None and value.text not in value_texts and asserts(statement, begin, end):
            prefix, _, suffix = own.partition(value.text)
            words = bag(f"{_VERB.sub(' ', prefix)} {suffix}")
            if 1 < len(words) <= _MOST_WORDS:
                yield replace(_claim(statement, Clause(prefix.strip(" ,:`*"), "", own), value, words), loose=True)
        begin = stop.end() if stop else end


_PART = make_regex(r"[,;]\s|\s[—–-]\s|:\s(?!https?:|`)|\s(?:so|and|but|because|since)\s|[()]")
_CESSATION = make_regex(
    r"\bno longer\b|\b(?:supported|allowed|used|available|maintained|permitted)\b.*\b(?:any ?more|any longer)\b"
)
"""Statements that `rules.ended` handles."""
_VERB = make_regex(r"(?<=\w)\s\w+s\s+(?=(?:to|on|at|in|from|under|for)\b)")
_MOST_WORDS = 8
_FIGURES = make_regex(
    r"[\d/\\]|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day"
)
_DIGITS = make_regex(r"[\d/\\=]")
_CUES = (
    " is ", " are ", "stay", "remain", " been ", " was ", " were ", " got ", "läuft", " ist ", " sind ", " est ", " sont ", ": ",
    "enabled", "disabled", "turned", "switched", "activated", " two ", " three ", " four ", " five ", " six ", " seven ",
    " eight ", " nine ", " ten ", " twelve ", "tabs", "spaces", "json", "yaml", "xml", "csv", "utf", "ascii", "latin", "lf",
    "mit", "gpl", "bsd", "utc", "eur", "usd", "crypt", "zip", "zstd", "brotli", "day", ".toml", ".yml", ".ini", ".cfg", ".conf",
    ".env", ".lock", ".sql", ".md", ".db",
)  # fmt: skip
_HINT = make_regex(
    r"\b(?:is|are|stays?|remains?|been|was|were|got|läuft|ist|sind|est|sont)\s(?:not |no longer |now |still |back |again |turned |switched )*"
    r"(?:forbidden|prohibited|mandatory|[\"'`@A-Z]|(?:\w+-)?(?:\w+(?:ed|able|ible)"
    r"|seit|(?:de)?aktiviert|\w*geschaltet|d?[ée]?s?acti?v\w+|d?is?attiv\w+"
    r"|on|off|true|false|optional|mandatory|active|inactive|open|closed|public|private|manual|automatic|secure|strict|lenient|free"
    r"|frozen|hidden|read-only|opt-in|opt-out|main|master|trunk)\b)|^[\w /*-]{2,60}:\s"
    r"|\b(?:(?:re-)?(?:en|dis)abled|turned|switched|(?:de)?activated|two|three|four|five|six|seven|eight|nine|ten|twelve|tabs|spaces"
    r"|\w+days?|\w+\.(?:toml|ya?ml|json|ini|cfg|conf|env|lock|sql|md|db))\b"
    r"|\b(?i:json|yaml|xml|csv|utf|ascii|latin|lf|crlf|mit|gpl|bsd|isc|utc|eur|usd|bcrypt|scrypt|gzip|zstd|brotli|snappy)"
)
"""A quick pre-check: without a match no value is stated."""
_SWITCHED_ON = frozenset({"enabled", "turned on", "switched on", "activated", "re-enabled", "on"})
_UPGRADE = make_regex(
    r"(?:^|[.;:,(]\s|\b(?:we|i|have|has|and)\s(?:have\s|now\s|just\s)?)(?:upgraded|moved|updated|bumped|went|migrated)\sto\s(?P<value>[^;,(]+)",
    re.IGNORECASE,
)
_DID = "(?:raised|lowered|increased|reduced|bumped|upgraded|downgraded|moved|changed|set|pinned|switched|extended|shortened|updated|relocated|reset|doubled|halved|went|gone|migrated|dropped|cut)"
_CHANGED = make_regex(
    f"(?:^|[.;:,(]\\s|\\b(?:we|i|have|has|and)\\s(?:have\\s|now\\s|just\\s)?){_DID}\\s(?P<thing>{THING})\\s(?:over\\s)?to\\s(?P<value>[^;,(]+)|(?:^|[.;:,(]\\s)(?P<thing2>{THING})\\s(?:has\\s|have\\s|was\\s|were\\s|been\\s|is\\snow\\s|now\\s)*{_DID}\\s(?:over\\s)?to\\s(?P<value2>[^;,(]+)",
    re.IGNORECASE,
)
_SWITCH_ACTION = make_regex(
    r"(?:^|[.;:,]\s|\b(?:we|i|have|and)\s(?:have\s|now\s)?)(?P<state>(?:re-)?enabled|disabled|turned (?:on|off)"
    rf"|switched (?:on|off)|deactivated|activated)\s(?P<thing>{THING}){STOP}",
    re.IGNORECASE,
)

_TURNED_CUES = (" on", " off")
_TURN_ACTION = make_regex(
    f"(?:^|[.;:,]\\s|\\b(?:we|i|have|and)\\s(?:have\\s|now\\s)?)(?:turned|switched|set)\\s(?P<thing>{THING})\\s(?:back\\s)?(?:to\\s)?(?P<state>on|off){STOP}",
    re.IGNORECASE,
)
_BUILT = make_regex(
    r"^(?:built|compiled|tested|requires?|needs?|targets?|runs?|written|developed|pinned|uses?)\s(?:(?:with|on|for|against|in|to|at)\s)?"
    r"(?:the\s)?(?P<value>[A-Za-z][\w.+#-]*\s[^;,(]+)",
    re.IGNORECASE,
)


def _claim(statement: Statement, clause: Clause, value: Value, words: frozenset[str]) -> Claim:
    return Claim(
        value.kind, clause.subject, "", value.text, statement.start, statement.end, value=value, words=words,
        about=bag(f"{clause.scope} {clause.subject}") if clause.verb else frozenset(), lead=bag(clause.lead),
        sentence=statement.text,
    )  # fmt: skip


_PREDICATES = {
    "version": "version", "port": "runs_on_port", "path": "located_at", "boolean": "enabled", "value": "has_value",
    "name": "has_value",
}  # fmt: skip
_SWITCHES = {"on": True, "enabled": True, "active": True, "off": False, "disabled": False, "inactive": False}


def _fact(claim: Claim, clause: Clause) -> Claim:
    """Return the claim with a fact, if it states one: its subject has a name and its verb is understood."""
    value = claim.value
    if value is None or not clause.verb:
        return claim
    subject = clause.subject if is_thing(tidy(clause.subject), _LONGEST_SUBJECT) else ""
    if value.kind == "version" and value.unit and (not subject or clause.subject.casefold() in GENERIC):
        subject = value.unit
    if (value.kind == "path" and not clause_values.is_place(clause)) or clause.verb.casefold() in _NEEDS:
        return claim
    if value.kind == "value" and not clause_values.is_figure(clause):
        return claim
    if (value.kind == "name" and not clause_values.is_name(clause, value)) or value.text.casefold() == "one":
        return claim
    if _ADVERBIAL.match(subject):
        return claim
    subject = _TRAILING.sub("", subject)
    if _NO_NAME.search(subject) or " #" in claim.sentence or (value.kind == "value" and not _is_set(subject, value)):
        return claim
    if not bag(subject) - clauses.GENERIC_WORDS - {"default", "example", "result", "path"} or "=" in subject:
        return claim
    if not subject or _NEGATION.search(subject) or re.search(r"[:(]|\bI\b", subject):
        return claim
    thing = f"{value.text} {value.unit}".strip() if value.kind == "value" else value.text
    if value.kind == "version" and value.unit and subject != value.unit:
        thing = f"{value.unit} {value.text}"
    if value.kind == "boolean":
        state = _SWITCHES.get(value.text.casefold())
        if state is None:
            return claim
        thing = "true" if state else "false"
    predicate = "located_at" if clause_values.is_region(value.text) else _PREDICATES[value.kind]
    return replace(claim, subject=tidy(subject), predicate=predicate, fact_object=thing)


_NO_NAME = make_regex(
    r"`|^\w+ing\b|^(?:else|then|correct)\b|\b(?:to|which|that|for|the|same|else|with|officially)$", re.IGNORECASE
)
_LIMIT = make_regex(
    r"limit|time-?out|size|length|max|min|quota|cap\b|budget|interval|ttl|delay|threshold|window|retention|memory|count|number"
    r"|level|factor|rate|price|workers|replicas|retries|port|width|depth|pool",
    re.IGNORECASE,
)
_UNIT_PATTERN = make_regex(r"(?:ms|µs|ns|%|[KMGTk]i?B)\b|%|^$|^one ", re.IGNORECASE)


def _is_set(subject: str, value: Value) -> bool:
    """Return whether a figure is a setting, not a measurement."""
    return (
        _LIMIT.search(subject) is not None
        or ":" in value.text
        or not _UNIT_PATTERN.search(value.unit)
        or clause_values.is_region(value.text)
    )


_TRAILING = make_regex(r"\s(?:now|port|still|also|always|currently|version)$", re.IGNORECASE)
_ADVERBIAL = make_regex(
    r"(?:after|before|of|in|on|at|by|for|with|without|from|to|since|until|when|while|once|as|under|every|each|any|all|no"
    r"|none|both|most|some|what|which|how|where|why|whoever|everything|nothing|this|that|these|those|there|here"
    r"|add|added|fix|fixed|remove|removed|support|import|use|update|updated|allow|make|improve|ignore|bump|you|your|see|note)\b",
    re.IGNORECASE,
)
"""Words with which a name of a thing does not begin."""
_NEEDS = ("needs", "need", "requires", "require", "depends", "depend")
_NEGATION = make_regex(r"n['’]t\b|\b(?:not|no longer|never|we|they|you)\b", re.IGNORECASE)


_LONGEST_SUBJECT = 5


def _entries(statement: Statement) -> Iterator[Claim]:
    for pattern in _PAIRS:
        for key, value in pattern.findall(statement.text):
            yield from _entry(statement, key, value)
    address = clause_values.host_port(statement.text)
    if address is not None and not _ENTRY.match(statement.text):
        yield from _entry(statement, f"{statement.text.split()[0]} port", address)
    if statement.text.startswith("{"):
        return
    for pattern in _LINES:
        match = pattern.match(statement.text)
        if match is not None:
            yield from _entry(statement, match[1] or _key(statement.text), match[2])
            return


def _key(line: str) -> str:
    """Return the key of a line without one: its first word; for a container's port, that port."""
    return f"ports:{line.rpartition(':')[2]}" if line.startswith("-") else line.split()[0]


def _entry(statement: Statement, key: str, value: str) -> Iterator[Claim]:
    value_text = value.split(" #")[0].split(" //")[0].strip().rstrip(",;").strip("\"'[] ")
    first = next(iter(value_text.split()), "").strip("\"',")  # all of it may be white space outside ASCII
    for kind, pattern in _VALUES:
        text = first if kind in ("path", "name", "version") or first.isdigit() else value_text
        if kind == "port" and _PORT_MAPPING.match(text):
            text = text.split(":")[-2]
        elif kind == "port" and not (re.search(r"port|listen|expose|bind|addr", key, re.IGNORECASE)):
            continue
        if not pattern.match(text):
            continue
        entry_value = Value(kind, text)
        if kind == "value" and (parts := _FIGURE.match(text)):
            entry_value = Value(kind, parts[1], parts[2] or "")
        yield Claim(
            kind, key, "", text, statement.start, statement.end, value=entry_value,
            words=bag(" ".join(_CAMEL.split(key))), key=key.casefold(), context_lines=statement.context_lines, parent_keys=statement.parent_keys, sentence=statement.text,
        )  # fmt: skip
        return


_FIGURE = make_regex(r"^(\d[\d,.]*(?:e-?\d+)?)\s?(%|[A-Za-z]{1,4})?$")
_PORT_MAPPING = make_regex(r"^(?:[\d.]+:)?\d{2,5}:\d{2,5}$")
"""A port of the host and a port inside a container."""
