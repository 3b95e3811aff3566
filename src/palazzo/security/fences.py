"""The fence around recorded words that are shown to a model: text inside cannot close the fence or open another one.

The text also cannot close a host's enclosing block (`<system-reminder>` and similar), or begin a turn in a model's own
format (`<|im_start|>`, `[INST]`, a line that begins with `Human:`). Only these marks are changed, and only in the
displayed text: the archive keeps every word unchanged.
"""

from __future__ import annotations

import re

from palazzo.security.confusables import CONFUSABLES
from palazzo.text.lazy_patterns import make_regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

FENCE = "palazzo-memory"
"""The tag around all text that Palazzo injects."""
HOSTS_TAGS = (
    *("system-reminder", "hook_context", "hook_prompt", "untrusted_context", "user-prompt-submit-hook"),
    *("function_results", "function_result", "function_calls", "function_response", "tool_results", "tool_result"),
    *("tool_response", "tool_outputs", "system_prompt", "system_message", "start_of_turn", "end_of_turn"),
)
"""Tags that Claude Code, Gemini CLI and Codex put around the output of hooks and tools for the model, and tags that
models know from their training as boundaries of turns and of tool results.
"""


def _alike(letters: str) -> str:
    """Map letters that look the same to one form: a capital I and an l, `rn` and `m`, `cl` and `d`."""
    return letters.replace("rn", "m").replace("cl", "d").replace("l", "i")


_NAMES = tuple(_alike("".join(letter for letter in name if letter.isalpha())) for name in (FENCE, *HOSTS_TAGS))
_LOOKALIKES = {
    **{like: letter for letter, letters in CONFUSABLES.items() for like in letters},
    **dict.fromkeys("＜﹤‹〈⟨〈❮❰⦑ᐸ˂《«≪❬⧼≺⋖", "<"),
    **dict.fromkeys("／∕⁄⧸╱\\", "/"),
    **dict.fromkeys("аɑαᎪꓮⲁ@àáâãäå", "a"),
    **dict.fromkeys("еєҽεɛᎬꓰⲉèéêë", "e"),
    **dict.fromkeys("ӏıɩι1|ⳑꮮᏞꓡł", "l"),
    **dict.fromkeys("мᴍμµʍɱᎷꓟⲙ", "m"),
    **dict.fromkeys("оοօ0Ꮻꓳⲟøòóôõö", "o"),
    **dict.fromkeys("рρƿþᏢꓑⲣ", "p"),
    **dict.fromkeys("гᴦɼᎡꓣⲅ", "r"),
    **dict.fromkeys("уүγυᎩꓬⲩýÿ", "y"),
    **dict.fromkeys("ᴢʐƶζᏃꓜⲍ", "z"),
    **dict.fromkeys("ç", "c"),
    **dict.fromkeys("ð", "d"),
    **dict.fromkeys("ìíîï", "i"),
    **dict.fromkeys("ñ", "n"),
    **dict.fromkeys("ùúûü", "u"),
}
"""Letters and marks that look like those of a tag, by Unicode's table of confusables, and letters with accents."""
_LETTER_TABLE = str.maketrans(_LOOKALIKES)
_ESCAPE_PATTERN = make_regex(
    r"&(?:(?P<name>lt|sol|amp|num);?|#(?:0{0,6}(?P<decimal>\d{2,3})|x0{0,6}(?P<hex>[0-9a-f]{2}));?)"
    r"|\\{1,8}(?:u00(?P<unicode>[0-9a-f]{2})|u\{0{0,4}(?P<braced>[0-9a-f]{2})\}|x(?P<short>[0-9a-f]{2})|0?(?P<octal>74|57))"
    r"|%(?P<percent>[0-9a-f]{2})|=(?P<quoted>3c|2f)",
    re.IGNORECASE,
)
"""A letter or mark as an entity, as an escape of JSON or other code, or as part of a URL or of an email."""
_ENTITIES = {"lt": "<", "sol": "/", "amp": "&", "num": "#"}
_DEEPEST = 6
"""Maximum nesting of such escapes: `&amp;amp;lt;`."""
_IN_ANY_FORM = str.maketrans({"i": "[il]", "m": "(?:m|rn)", "d": "(?:d|c[il])"})
_TAG = make_regex(
    r"(?<![<\[/])/*+(?P<tag>(?:<|\[++[/<])[<\[/]*+(?:antm[il])?"
    rf"(?:{'|'.join(name.translate(_IN_ANY_FORM) for name in _NAMES)}))"
)
"""For a tag in square brackets, only the closing tag: an escaped opening tag looks like that. A run of brackets is read
once, from its beginning; slashes before it are no part of the tag.
"""
_INVISIBLE = "[\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]*"
_LESS = rf"(?:[<＜﹤‹〈⟨]|&lt;?|&#(?:0{{0,4}}60|x0{{0,4}}3c);?|\\{{1,8}}(?:u003c|x3c)|%3c){_INVISIBLE}"
_PIPE = "[|｜∣ǀ￨│]"
_TOKEN = make_regex(
    rf"{_LESS}(?={_PIPE}{_INVISIBLE}[^\s|｜<>]{{2,60}}{_PIPE}{_INVISIBLE}(?:[>＞›〉⟩]|&gt|&#62|&#x3e|\\|%3e))",
    re.IGNORECASE,
)
"""The bracket of a model's own token: `<|im_start|>`, `<|eot_id|>`, `<｜User｜>`. There is no space between its pipes,
so that operators of programming languages (`f <| x |> g`) do not match.
"""
_MARK = make_regex(
    rf"[\[［]{_INVISIBLE}(?=/?{_INVISIBLE}(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)[\]］])"
    r"|<<(?=/?SYS>>)"
)
"""The bracket of a turn of Llama and Mistral."""
_ROLE = make_regex(
    r"^(?=[ \t]{0,3}(?:#{1,6}[ \t]{0,3}(?:System|Human|User|Assistant|Instructions?|Response)[ \t]{0,3}:"
    r"|(?:Human|Assistant|System)[ \t]?[:：]))",
    re.MULTILINE,
)
"""The beginning of a line that a model may read as the beginning of a turn. It becomes a quotation, and stays
readable.
"""
_NO_LETTER = make_regex(r"[^a-z]+")
_LETTER = make_regex(r"LETTER (?:SMALL CAPITAL |OPEN |SCRIPT )?([A-Z])(?: WITH .*)?$")
_UNUSUAL = make_regex("[^\x00-\x7f§«·»À-Þà-ÿ‐-‟•…€←-⇿─-╿一-鿿]")
"""Finds characters that may be a disguised letter or mark of a tag and that need the Unicode tables to be
recognised.
"""


def fence_text(text: str) -> str:
    """Return `text` inside the fence, with everything that looks like a tag of it escaped."""
    return f"<{FENCE}>\n{escape_tags(text)}\n</{FENCE}>"


def escape_tags(text: str) -> str:
    """Return `text` with `[` for the bracket of every tag of the fence or of a host, in any spelling."""
    plain = _plain(_undone(text))
    letters = _alike(_NO_LETTER.sub("", plain))
    if any(name in letters for name in _NAMES):
        text = _without_tags(text)
    return _ROLE.sub("> ", _MARK.sub("(", _TOKEN.sub("[", text)))


def _without_tags(text: str) -> str:
    """Replace the bracket of each tag by `[`, and remove the slash of closing tags."""
    skeleton, origins = _skeleton(text)
    pieces: list[str] = []
    at = 0
    for tag in _TAG.finditer(skeleton):
        for n in range(*tag.span("tag")):
            if skeleton[n] in "</":
                start, end = origins[n]
                pieces += (text[at:start], "[" if skeleton[n] == "<" else "")
                at = end
    return "".join([*pieces, text[at:]])


# --- spellings ---------------------------------------------------------------------------------------------


def _undone(text: str) -> str:
    """Return the text with escape sequences decoded."""
    for _ in range(_DEEPEST):
        if not ("&" in text or "\\" in text or "%" in text or "=" in text):
            break
        plainer = _ESCAPE_PATTERN.sub(_decode_escape, text)
        if plainer == text:
            break
        text = plainer
    return text


def _decode_escape(match: re.Match[str]) -> str:
    """Return the letter for an escape sequence."""
    kind = match.lastgroup
    code = match[kind] if kind else ""
    if kind == "name":
        return _ENTITIES[code.lower()]
    number = int(code, 10 if kind == "decimal" else 8 if kind == "octal" else 16)
    return chr(number) if number < 0x80 else match[0]


def _skeleton(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the letters, brackets and slashes of `text` in their plain form, and the position of each."""
    letters, spans = text, [(n, n + 1) for n in range(len(text))]
    for _ in range(_DEEPEST):
        pieces: list[str] = []
        new_spans: list[tuple[int, int]] = []
        at = 0
        for match in _ESCAPE_PATTERN.finditer(letters):
            start, end = match.span()
            replacement = _decode_escape(match)
            pieces += (letters[at:start], replacement)
            new_spans += spans[at:start]
            new_spans += spans[start:end] if replacement == match[0] else [(spans[start][0], spans[end - 1][1])]
            at = end
        if not at:
            break
        letters, spans = "".join([*pieces, letters[at:]]), [*new_spans, *spans[at:]]
    plain_letters: list[str] = []
    origins: list[tuple[int, int]] = []
    plain = {letter: _plain(letter) for letter in set(letters)}
    for letter, span in zip(letters, spans, strict=True):
        for char in plain[letter]:
            if char in "</[" or "a" <= char <= "z":
                plain_letters.append(char)
                origins.append(span)
    return "".join(plain_letters), origins


# --- looks -------------------------------------------------------------------------------------------------


def _plain(text: str) -> str:
    """Return the text in lower case, each letter in the form that it looks like."""
    if not _UNUSUAL.search(text):
        return text.lower().translate(_LETTER_TABLE)
    return text.translate({ord(letter): _looks(letter) for letter in set(text)})


def _looks(letter: str) -> str:
    """Return what one letter looks like; empty for invisible marks."""
    if not _UNUSUAL.search(letter):
        return letter.lower().translate(_LETTER_TABLE)
    import unicodedata  # a megabyte of tables: a hook that answers by itself seldom needs them

    forms = (letter, letter.lower(), letter.casefold(), letter.upper())
    like = next((_LOOKALIKES[form] for form in forms if form in _LOOKALIKES), None)
    if like:
        return like
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return ""
    decomposition = unicodedata.normalize("NFKD", letter)
    if decomposition != letter:
        return "".join(map(_looks, decomposition))
    match = _LETTER.search(unicodedata.name(letter, ""))
    return match[1].lower() if match else letter.lower()
