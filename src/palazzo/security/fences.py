"""The fence around recorded words that are put before a model: what stands inside cannot close it or open another.

Nor can it close what hosts put around that (`<system-reminder>` and its like), or begin a turn as models' own formats
do (`<|im_start|>`, `[INST]`, a line that begins with `Human:`). Only marks are changed, and only in what is shown: the
archive keeps every word as it was.
"""

from __future__ import annotations

from palazzo.security.confusables import CONFUSABLES
from palazzo.text.compiled_patterns import IGNORE_CASE, MULTILINE, compile_pattern

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
"""Tags that Claude Code, Gemini CLI and Codex put around what hooks and tools give the model, and tags that models
know from their training as the edges of turns and of tools' results."""


def _alike(letters: str) -> str:
    """Letters with those in one form that look the same: a capital I and an l, `rn` and `m`, `cl` and `d`."""
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
_ESCAPE_PATTERN = compile_pattern(
    r"&(?:(?P<name>lt|sol|amp|num);?|#(?:0{0,6}(?P<decimal>\d{2,3})|x0{0,6}(?P<hex>[0-9a-f]{2}));?)"
    r"|\\{1,8}(?:u00(?P<unicode>[0-9a-f]{2})|u\{0{0,4}(?P<braced>[0-9a-f]{2})\}|x(?P<short>[0-9a-f]{2})|0?(?P<octal>74|57))"
    r"|%(?P<percent>[0-9a-f]{2})|=(?P<quoted>3c|2f)",
    IGNORE_CASE,
)
"""A letter or mark as an entity, as an escape of JSON or other code, as part of an address or of a mail."""
_ENTITIES = {"lt": "<", "sol": "/", "amp": "&", "num": "#"}
_DEEPEST = 6
"""How often such a spelling may be spelled so itself: `&amp;amp;lt;`."""
_IN_ANY_FORM = str.maketrans({"i": "[il]", "m": "(?:m|rn)", "d": "(?:d|c[il])"})
_TAG = compile_pattern(
    rf"(?:<[<\[/]*|\[+/[<\[/]*)(?:antm[il])?(?:{'|'.join(name.translate(_IN_ANY_FORM) for name in _NAMES)})"
)
"""Of a tag in square brackets only the closing one: that is what an escaped opening tag looks like."""
_INVISIBLE = "[\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]*"
_LESS = rf"(?:[<＜﹤‹〈⟨]|&lt;?|&#(?:0{{0,4}}60|x0{{0,4}}3c);?|\\{{1,8}}(?:u003c|x3c)|%3c){_INVISIBLE}"
_PIPE = "[|｜∣ǀ￨│]"
_TOKEN = compile_pattern(
    rf"{_LESS}(?={_PIPE}{_INVISIBLE}[^\s|｜<>]{{2,60}}{_PIPE}{_INVISIBLE}(?:[>＞›〉⟩]|&gt|&#62|&#x3e|\\|%3e))",
    IGNORE_CASE,
)
"""The bracket of a model's own token: `<|im_start|>`, `<|eot_id|>`, `<｜User｜>`. Between its pipes stands no space,
so that operators of languages (`f <| x |> g`) are none."""
_MARK = compile_pattern(
    rf"[\[［]{_INVISIBLE}(?=/?{_INVISIBLE}(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)[\]］])"
    r"|<<(?=/?SYS>>)"
)
"""The bracket of a turn of Llama and Mistral."""
_ROLE = compile_pattern(
    r"^(?=[ \t]{0,3}(?:#{1,6}[ \t]{0,3}(?:System|Human|User|Assistant|Instructions?|Response)[ \t]{0,3}:"
    r"|(?:Human|Assistant|System)[ \t]?[:：]))",
    MULTILINE,
)
"""The beginning of a line that a model may read as a turn's. It becomes a quotation, and stays readable."""
_NO_LETTER = compile_pattern(r"[^a-z]+")
_LETTER = compile_pattern(r"LETTER (?:SMALL CAPITAL |OPEN |SCRIPT )?([A-Z])(?: WITH .*)?$")
_UNUSUAL = compile_pattern(
    "[^\x00-\x7f\xa7\xab\xb7\xbb\xc0-\xde\xe0-\xff\u2010-\u201f\u2022\u2026\u20ac\u2190-\u21ff\u2500-\u257f\u4e00-\u9fff]"
)
"""Finds what may be a letter or mark of a tag in a disguise that takes the tables of Unicode to see through."""


def fence_text(text: str) -> str:
    """Return `text` inside the fence, with what could be taken for a tag of it escaped."""
    return f"<{FENCE}>\n{escape_tags(text)}\n</{FENCE}>"


def escape_tags(text: str) -> str:
    """Return `text` with `[` for the bracket of every tag of the fence or of a host, however it is spelled."""
    plain = _plain(_undone(text))
    letters = _alike(_NO_LETTER.sub("", plain))
    if any(name in letters for name in _NAMES):
        text = _without_tags(text)
    return _ROLE.sub("> ", _MARK.sub("(", _TOKEN.sub("[", text)))


def _without_tags(text: str) -> str:
    """Put `[` for the bracket of each tag, and leave out the slash that would close something."""
    skeleton, origins = _skeleton(text)
    pieces: list[str] = []
    at = 0
    for tag in _TAG.finditer(skeleton):
        for n in range(*tag.span()):
            if skeleton[n] in "</":
                start, end = origins[n]
                pieces += (text[at:start], "[" if skeleton[n] == "<" else "")
                at = end
    return "".join([*pieces, text[at:]])


# --- spellings ---------------------------------------------------------------------------------------------


def _undone(text: str) -> str:
    """The text with each letter that is spelled as an escape in its place."""
    for _ in range(_DEEPEST):
        if not ("&" in text or "\\" in text or "%" in text or "=" in text):
            break
        plainer = _ESCAPE_PATTERN.sub(_decode_escape, text)
        if plainer == text:
            break
        text = plainer
    return text


def _decode_escape(match: re.Match[str]) -> str:
    """The letter that an escape stands for."""
    kind = match.lastgroup
    code = match[kind] if kind else ""
    if kind == "name":
        return _ENTITIES[code.lower()]
    number = int(code, 10 if kind == "decimal" else 8 if kind == "octal" else 16)
    return chr(number) if number < 0x80 else match[0]


def _skeleton(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The letters, brackets and slashes of `text` in their plain form, and where each of them stands."""
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
    """The text in the small letters that its own are, or look like."""
    if not _UNUSUAL.search(text):
        return text.lower().translate(_LETTER_TABLE)
    return text.translate({ord(letter): _looks(letter) for letter in set(text)})


def _looks(letter: str) -> str:
    """What one letter looks like; empty of marks that are not seen."""
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
