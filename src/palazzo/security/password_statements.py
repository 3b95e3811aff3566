"""Passwords that a configuration line or a sentence states: `requirepass X`, "the admin password is X".

Each function gets a text and the start and end of a word for a password in it, and examines only a bounded stretch
after it (or, where stated, before it). Owns the words for a password in languages other than English.
"""

from __future__ import annotations

import re

from palazzo.security.placeholders import is_stand_in
from palazzo.text.lazy_patterns import make_regex

RuleSpan = tuple[int, int, str]

_FIELD = make_regex(
    r"[\w.-]{0,40}+(?:"
    r"\\{0,4}[\"'][ ]{1,4}value=\\{0,4}[\"'](?P<attribute>[^\"'\n]{1,300})"
    r"|\\{0,4}[\"']\s{0,4},\s{0,12}\\{0,4}[\"'][vV]alue\\{0,4}[\"']\s{0,4}:\s{0,4}\\{0,4}[\"'](?P<member>[^\"'\n\\]{1,300})"
    r"|[\"']?\s{0,4}\n\s{0,16}[\"']?value[\"']?:\s{0,4}[\"']?(?P<line>[^\s\"'{]{1,300})"
    r"|(?:[\"'](?:[ ]\w{1,20}=[\"'][^\"'\n]{0,40}[\"']){0,3})?>\s{0,12}<value>(?P<inner>[^<\n]{1,300})<"
    r"|</(?:key|name)>\s{0,8}<(?:string|value)>(?P<element>[^<\n]{1,300})<"
    r"|[\"'] \{[^{}]{0,200}?\bdefault\s{1,8}=\s{1,4}[\"'](?P<default>[^\"'\n]{3,200})"
    r"|[^|\n]{0,40}<<<[ ]?[\"']?(?P<here>[^\s\"'$]{4,100})"
    r"|\]\\?[\"'],\s?[\"'](?P<filled>[^\"'\n]{3,100})[\"']\)"
    r"|[\"']?\)?\)?\.(?:send_?keys|type|fill|set_?value)\([\"'](?P<typed>[^\"'\n]{3,100})[\"']"
    r")",
    re.IGNORECASE,
)
_RESULT = make_regex(r"[\w.-]{0,40}+[\"'][^\n]{1,160}?[\"']result[\"']\s{0,4}:\s{0,4}[\"'](?P<result>[^\"'\n]{6,300})")
_WORD = make_regex(r"[^\s\"'`<>»”’“]{6,80}")
_CONNECTS = make_regex(
    r"(?:\b(?:is|was|to|now|new|be|are|est|es|ist|lautet|auf|sind|é|è|era|sarà|jest|from|är|er|naar|becomes?|remains|changed|set)[ ]{1,3}"
    r"(?:now |still |jetzt |again |currently |ahora |maintenant |just |: ?|= ?){0,2}|[:：=][ ]{0,3}|(?:[-–—]|→|->)[ ])"
    r"(?:\*{1,2}|[\"'`«“‘„][ ]?|<code>)?\Z"
)
"""The words between a word for a password and the password itself."""
_SENTENCE_BREAK = make_regex(r"[\n.;!?:=\"<>{}]")
"""Characters that end a sentence or a statement in it."""
_OTHER_SCRIPT_VALUE = make_regex(
    r"(?:с|от|для|к|है)?[^\n.;!?:=：]{0,40}?[ ]{0,2}(?:[:：=]|は|が|是|为|為|는|은|이|가|—|-|это|теперь)[ ]{0,2}"
    r"[\"'`「『«“]?(?P<value>[!-~]{5,80})"
)
_LEADING_PASSWORD = make_regex(
    r"(?:[\"'`«“„‘][ ]?(?P<quoted>[^\s\"'`»”“’]{5,60})[ ]?[\"'`»”’“]|(?:\b(?:with|avec|mit|con|com|met|use|using|enter|try|put|type|set|took|now)|:)[ ](?P<plain>[^\s\"'`,]{6,60}?):?)"
    r"[ ]{1,2}(?:(?:as|for|is|comme|als|como|come|jako)[ ])?(?:(?:the|your|my|a|le|la|el|das|de|o|root|admin|db|mot|\w{1,12})[ ]){0,3}\Z",
    re.IGNORECASE,
)
_PREPOSITION = "(?:for|on|of|to|at|in|from|de|del|della|dell|do|da|di|du|des|der|dem|die|das|den|f[üu]r|zu|zum|zur|vom|von|auf|im|am|van|voor|naar|na|dla|w|po|para|pour|per|sur|à|al|til|för)"
_LABEL = make_regex(
    "(?:[ ]\\([^()\\n]{1,30}\\)|[ -](?:wifi|wlan|root|admin|ssh|vpn|postgres|mysql|nas|\\w{1,9}-?code)|[ "
    f"](?:lautet|is now|is|ist|est|es|now|jest|to)|[ ]{_PREPOSITION}(?:[ '’][\\w.'’/@-]{{1,30}}){{1,5}})\\*{{0,2}}[ "
    "]?(?:[:：]|→|->|=>|[–—])\\*{0,2}[ ]{1,3}(?P<open>[\\\"'`«“„][ "
    "]?|\\*\\*|<code>)?(?P<value>[^\\s\\\"'`«»“”„<>]{4,80})",
    re.IGNORECASE,
)
"""What a label adds to the password that it names, and what follows it: `Passwort für den Server: X`."""
_LABEL_ITSELF = make_regex(
    r"[ ]?[:：][ ](?P<value>(?!\w+(?:[A-Z]\w*|\.\w+|[(\[].*)(?=\s|\Z))[^\s\"'`«»“”„<>;,(]{5,80})(?=[ ]*(?:\r?\n|\Z|[|*]|\())"
)
"""The value directly after the word, at the end of a line that begins with other words."""
_ENDS_LABEL = make_regex(r"[ ]?(?:[\"'`»“”]|\*\*|</code>)?[.,;!]?(?:[ ]\(|[ ]?[*]{2,}|[ ]?\||[ ]*(?:\r?\n|\\n|\Z))")
_STATEMENT = make_regex(
    f"(?:[ ](?:{_PREPOSITION}|root|admin)(?:[ '’][\\w.'’/@-]{{1,30}}){{0,4}}?|[ "
    "](?:wifi|wlan|root|admin|\\w{2,9}-?code))?(?P<verb>'s(?=[ ])|[ "
    "](?:is|was|to|lautet|ist|war|auf|est|es|era|é|è|to|jest|into|en|är|er|,)(?:[ ](?:now|still|set "
    "to|jetzt|again|ahora|just))?)?[ ](?P<open>[\\\"'`«“„][ ]?|\\*\\*|\\()?(?P<value>[^\\s\\\"'`«»“”„<>]{4,80})",
    re.IGNORECASE,
)
_PASSWORD_SHAPE = make_regex(
    r"[A-ZÄÖÜ][\w.+-]*[_+~.-][A-Za-z]\w*|\w*[a-z][A-Z][a-z]\w*|[a-z]{3,}[+~][\w+]{3,}|[A-Z][\w.~+-]*[~][\w~]+"
)
"""The spelling of a chosen password without digits: `Teapot.Nine`, `GattoNero`, `Schnecke_rot`."""
_NEXT_LINE = make_regex(
    r"[^\n=\"']{0,120}:?[ ]{0,3}\r?\n(?:[ ]{0,8}\r?\n)?[ ]{0,8}(?P<value>[!-~]{8,56})[ ]{0,3}(?:\r?\n|\Z)"
)
_PROTOCOL_BEFORE = make_regex(r"USER |331 |---> ?$|\[P\.\]|C: ?$|>> ?$|RCPT|AUTH|ftp|pop3", re.IGNORECASE)
_PROTOCOL = make_regex(r"PASS (?P<value>[!-~]{3,100})(?=\r?\n|\\r|\"|'|$)")
_DIRECTIVE = make_regex(
    r"(?:requirepass|masterauth|masterpass|rootpw|bindpw|olcrootpw|sentinel auth-pass \S{1,40}|storepass|keypass"
    r"|change_password \S{1,60}|add_user \S{1,60}|reset-admin-password|passin pass:|passout pass:|pass pass:"
    r"|key-password|rw(?:-|_)?password|psksecret|pre-shared-key(?: ascii-text| local| remote)?|wpa-psk ascii \d|wpa_passphrase \S{1,40}"
    r"|enable (?:password|secret)(?: \d)?|username (?!and |or |und |et )\S{1,60} (?:privilege \d{1,2} )?(?:password|secret)(?: \d)?|password [057]"
    r"|passwd/\S{1,30} password|neighbor \S{1,60} password|DefaultPassword /d|openssl passwd(?: -[a-z0-9]{1,8}){1,3})"
    r"[ ]{0,4}(?:--?(?:plaintext|iscrypted)[ ]{1,3})?[\"']?(?P<value>[^\s\"']{3,200})",
    re.IGNORECASE,
)
STRONG_ENDS = ".,;:)]}»”’\"'`*"


def find_stated_password(text: str, start: int, end: int) -> RuleSpan | None:
    """Return the password stated after the word for a password from `start` to `end`."""
    return (
        _in_field(text, end)
        or _by_protocol(text, start)
        or find_directive(text, start)
        or _in_sentence(text, start, end)
    )


def find_field(text: str, end: int, rule: str) -> RuleSpan | None:
    """Return the value of a field whose name ends at `end`, where name and value are separate members."""
    return _in_field(text, end, rule)


def _in_field(text: str, end: int, rule: str = "password") -> RuleSpan | None:
    match = _FIELD.match(text, end)
    if not match and text.find("result", end, end + 170) >= 0:
        match = _RESULT.match(text, end)
    if not match:
        return None
    group = match.lastgroup or ""
    value = match[group]
    if len(value) < 4 or is_stand_in(value) or (rule != "password" and not any(map(str.isdigit, value))):
        return None
    return (*match.span(group), rule)


def _by_protocol(text: str, start: int) -> RuleSpan | None:
    match = _PROTOCOL.match(text, start)
    if not match or not _PROTOCOL_BEFORE.search(text, max(0, start - 120), start):
        return None
    return None if is_stand_in(match["value"]) else (*match.span("value"), "password")


def find_directive(text: str, start: int) -> RuleSpan | None:
    """Return the value in a settings line that names the setting before it, without an assignment mark."""
    if not _DIRECTIVE_GOES_ON.match(text, start):
        return None
    around = text[max(0, start - 60) : start + 24].lower()
    for word in _DIRECTIVE_WORDS_OF_SECRET if text[start] in "sS" else _DIRECTIVE_WORDS:
        if word in around:
            break
    else:
        return None
    begin = max(0, start - 60)
    for match in _DIRECTIVE.finditer(text, begin, start + 280):
        if match.start() <= start + 1 < match.start("value") and not is_stand_in(match["value"]):
            return (*match.span("value"), "password")
    return None


_DIRECTIVE_WORDS = (
    *(
        "requirepass",
        "masterpass",
        "rootpw",
        "bindpw",
        "auth-pass",
        "storepass",
        "keypass",
        "change_password",
        "add_user",
    ),
    *(
        "reset-admin",
        "pass pass:",
        "passin",
        "passout",
        "key-password",
        "rw_password",
        "psksecret",
        "pre-shared",
        "wpa-psk",
    ),
    *(
        "wpa_passphrase",
        "enable ",
        "username ",
        "password 0",
        "password 5",
        "password 7",
        "passwd/",
        "neighbor ",
        "defaultpassword",
        "openssl passwd",
    ),
)
_DIRECTIVE_WORDS_OF_SECRET = ("psksecret", "enable ", "username ")
_DIRECTIVE_GOES_ON = make_regex(
    r"\w{0,20}(?:[ ](?:ascii-text|local|remote|ascii))?(?:[ ]\d)?(?:[ ]-\w+)?[ :]", re.IGNORECASE
)
"""What follows the word in each directive; checked first, since most words for a password are followed by a punctuation
mark.
"""


def find_key(text: str, at: int) -> RuleSpan | None:
    """Return the key in a line of router or Windows settings."""
    match = _KEY.match(text, at)
    if not match and text[at + 3 : at + 4] in ("", ":", "=", '"', "_", "s", "w", "'", ")", "]", ",", "."):
        return None
    is_key = match is not None and _KEY_BEFORE.search(text, max(0, at - 40), at) is not None
    if not match or not is_key or match["value"].islower() or is_stand_in(match["value"]):
        if not text.startswith("-File", at + 3):
            return None
        lines = _PUTTY.search(text, at, at + 6000)
        return (*lines.span("value"), "private-key") if lines else None
    return (*match.span("value"), "password")


_KEY = make_regex(
    r"key(?:(?<=pragma key)[ ]=(?=[ ][\"'])|[ ]content[ ]{0,20}:|[ ][067])?[ ]{1,4}[\"']?(?P<value>[^\s\"']{4,100})",
    re.IGNORECASE,
)
_KEY_BEFORE = make_regex(
    r"pragma |attach [^\n]{0,34} as \w{1,20} |isakmp |(?:tacacs|radius|tacacs-server|radius-server)(?: host \S{1,40})?[ -](?:server )?\Z|\n[ ]{1,20}\Z|\A[ ]{1,20}\Z",
    re.IGNORECASE,
)
_PUTTY = make_regex(r"Private-Lines: \d{1,3}\r?\n(?P<value>(?:[A-Za-z0-9+/=]{4,}\r?\n){1,60})")


def _in_sentence(text: str, start: int, end: int) -> RuleSpan | None:
    if text[start:end].lower() != "pass":  # mostly the verb
        span = _behind_label(text, start, end) or _said_of(text, end)
        if span:
            return span
    if _PASSWORD_MARK.search(text, end, end + 200):
        span = _behind_connector(text, end) or _on_next_line(text, end)
        if span:
            return span
    as_words = not _AS.isdisjoint(text[max(0, start - 40) : start].lower().split()[-4:])
    may_stand_before = as_words and _LEADING_MARK.search(text, max(0, start - 110), start)
    match = _LEADING_PASSWORD.search(text, max(0, start - 110), start) if may_stand_before else None
    if match:
        group = "quoted" if match["quoted"] else "plain"
        is_constant = match[group].isupper() and match[group].isidentifier()
        if looks_chosen(match[group]) and not is_constant and not is_stand_in(match[group]):
            return (*match.span(group), "password")
    return None


def _behind_label(text: str, start: int, end: int) -> RuleSpan | None:
    """Return the value after a label's mark, up to the end of the line."""
    match = _LABEL.match(text, end, end + 280)
    if not match and text[start - 1 : start] == " " and text[start - 2 : start - 1] not in ("", " ", "\n"):
        match = _LABEL_ITSELF.match(text, end, end + 120)
    if not match:
        return None
    first, last = trim_span(text, *match.span("value"))
    value = text[first:last]
    if len(value) < 4 or is_stand_in(value):
        return None
    if is_strong(value) or (_ENDS_LABEL.match(text, last) and not _NO_PASSWORD.fullmatch(value)):
        return first, last, "password"
    return None


def find_labelled_token(text: str, end: int, rule: str) -> RuleSpan | None:
    """Return the token after a label: `Token for the bot: X`."""
    match = _LABEL.match(text, end, end + 280) if text[end : end + 1] == " " else None
    if not match or not _LABELLED_TOKEN.fullmatch(match["value"]) or is_stand_in(match["value"]):
        return None
    return (*match.span("value"), rule)


_LABELLED_TOKEN = make_regex(r"(?=\w*\d\w*[A-Za-z]\w*\d)(?=\w*[A-Za-z]\w*\d\w*[A-Za-z])[\w-]{12,200}")


def _said_of(text: str, end: int) -> RuleSpan | None:
    """Return the password that a sentence states, if it is spelled unlike a word or is in quotes."""
    match = _STATEMENT.match(text, end, end + 280)
    if not match:
        return None
    first, last = trim_span(text, *match.span("value"))
    value = text[first:last]
    is_quoted = (
        (match["verb"] or match["open"] in ("« ", "«", "„", "“"))
        and match["open"]
        and text[last : last + 2].strip()[:1] in ("»", "“", "”", '"', "'", "`", "*")
    )
    if is_stand_in(value):
        return None
    if not (looks_chosen(value) or (is_quoted and len(value) > 4) or _is_handed_over(text, end, match, first, last)):
        return None
    return first, last, "password"


def _is_handed_over(text: str, end: int, match: re.Match[str], first: int, last: int) -> bool:
    """Whether a word ends a sentence about a user and a password: `log in as bob with password pebblebeach.`."""
    value = text[first:last]
    if match["verb"] or match["open"] or first > end + 1 or len(value) < 8 or _ABSTRACT.search(value):
        return False
    return _ENDS_LABEL.match(text, last) is not None and _USER_NAMED.search(text, max(0, end - 90), end) is not None


_ABSTRACT = make_regex(r"(?:tion|ing|ment|ed|ly|ity|ung|keit|ción|zione|ção|s|managers?|wall)\Z|[-_]", re.IGNORECASE)
_USER_NAMED = make_regex(
    r"\b(?:as|als|user(?:name)?|usuario|utilisateur|benutzer|utente|usu[áa]rio|gebruiker|jako|com)[ ][\w.@-]{2,40},?[ ](?:and|with|y|et|e|und|mit|avec|con|com|met|i|z)[ ]",
    re.IGNORECASE,
)


def _behind_connector(text: str, end: int) -> RuleSpan | None:
    stop = text.find("\n", end, end + 170)
    for word in _WORD.finditer(text, end, stop if stop >= 0 else min(len(text), end + 170)):
        if not _PASSWORD_MARK.search(word[0]):
            continue
        begin = max(end, word.start() - 24)
        connects = _CONNECTS.search(text, begin, word.start())
        if connects and connects.start() - end <= _FARTHEST and not _SENTENCE_BREAK.search(text, end, connects.start()):
            first, last = trim_span(text, *word.span())
            if is_strong(text[first:last]) and not is_stand_in(text[first:last]):
                return first, last, "password"
    return None


_FARTHEST = 80


def _on_next_line(text: str, end: int) -> RuleSpan | None:
    if text.find("\n", end, end + 126) < 0:
        return None
    match = _NEXT_LINE.match(text, end, min(len(text), end + 260))
    if not match:
        return None
    value = match["value"]
    is_secret = (is_strong(value) or _is_hexadecimal(value)) and not is_stand_in(value)
    return (*match.span("value"), "password") if is_secret else None


_PASSWORD_MARK = make_regex(r"[0-9!#$&*+@^~]")
"""The characters required in a password that stands far after the word for it in a sentence."""
_LEADING_MARK = make_regex(r"\d|[\"'`«“„‘]|[a-z.~+-][A-Z]|[_+~]")
_AS = frozenset(["as", "comme", "als", "como", "come", "jako", "for"])


def find_in_other_script(text: str, end: int) -> RuleSpan | None:
    """Return the password after a word for it in a non-Latin script that ends at `end`."""
    match = _OTHER_SCRIPT_VALUE.match(text, end, end + 140)
    if not match:
        word = _WORD_END.match(text, end)
        return _said_of(text, word.end()) if word else None
    first, last = trim_span(text, *match.span("value"))
    value = text[first:last]
    is_value = is_strong(value) or _is_rest_of_line(text, match.start("value"), last)
    return (first, last, "password") if is_value and not is_stand_in(value) else None


_WORD_END = make_regex(r"[^\W\d_]{0,4}")


def _is_rest_of_line(text: str, start: int, end: int) -> bool:
    """Whether a word follows a label's mark and ends the line."""
    return text[start - 2 : start].strip("\"'`「『«“ ") == ":" and _ENDS_LABEL.match(text, end) is not None


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Exclude the marks that end a sentence from a word."""
    while end > start and text[end - 1] in STRONG_ENDS:
        end -= 1
    return start, end


_NO_PASSWORD = make_regex(
    r"\d+[A-Za-z]{1,3}|v?\d+(?:\.\d+)+\w*|\d{4}-\d\d-\d\d.*|[\w.-]+\.(?:py|js|ts|md|txt|json|ya?ml|toml|sh|go|rs|java|html?|conf|cfg|ini|env|log|sql|xml|csv)(?::\d+)?"
    r"|[A-Za-z][\w.]*\(.*|#\d+|(?-i:[A-Z]{2,10}|[a-z]{2,10})-\d{1,6}|(?:sha|md|aes|rsa|argon|pbkdf|utf|base|oauth|http|ipv|ed|x|level|type|step|user|server|host|node|python|node)-?\d{1,5}(?:-?[a-z]{1,10})?"
    r"|\S+@\S+\.\w{2,10}|[a-z]+://.*|(?:[\w.-]+/)+[\w.-]*|\d+(?::\d+)+|[a-z_]+\[\S*|\d+(?:st|nd|rd|th)|[\d.,/-]+|\W+",
    re.IGNORECASE,
)


def is_strong(value: str) -> bool:
    """Whether a word of a sentence looks like a password: not a word, version, date, path or file name."""
    if not 6 <= len(value) <= 80 or _NO_PASSWORD.fullmatch(value):
        return False
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    special = len(value) - letters - digits
    marks = sum(not letter.isalnum() and letter not in "-_./:'’,()[]{}<>\"`=" for letter in value)
    if not letters:
        return digits >= 4 and marks >= 1
    if digits:
        return letters >= 2 and (marks > 0 or special > 0 or len(value) >= 8)
    return marks > 0 and value[-1] not in "?%" and not value.endswith("!") and letters >= 4


def looks_chosen(value: str) -> bool:
    """Whether a word in the position of a password is spelled unlike a word of a sentence."""
    return is_strong(value) or (
        6 <= len(value) <= 80 and _PASSWORD_SHAPE.fullmatch(value) is not None and not _NO_PASSWORD.fullmatch(value)
    )


_PIN = make_regex(
    r"pin(?:[ -]?(?:code|nummer|number))?(?:[ ](?:for|of|to|der|für|de|del|do|zur?|zum|voor|dla)(?:[ ][\w'’-]{1,20}){1,4})?"
    r"(?:[ ]?(?:[:=]|is|lautet|ist|est|es|é|è|to|is now)[ ]{0,3}|[ ])[\"'`*]{0,2}(?P<value>\d{4,8})(?![\w.-]*\w)",
    re.IGNORECASE,
)


def find_pin(text: str, at: int) -> RuleSpan | None:
    """Return the digits that a sentence or setting gives for the PIN at `at`."""
    match = _PIN.match(text, at)
    return (*match.span("value"), "password") if match and len(set(match["value"])) > 1 else None


def _is_hexadecimal(value: str) -> bool:
    return len(value) in (32, 40, 64) and re.fullmatch(r"[0-9a-f]+", value) is not None
