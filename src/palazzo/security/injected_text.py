"""Recognition of injected text: Palazzo's own blocks, and instructions that a host put into a message.

Pure. Recognised text is archived like everything else, but code that cuts, quotes or learns from a message leaves these
spans out. The tags were observed in recorded sessions of the hosts (tests/fixtures).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right

from palazzo.security.fences import FENCE
from palazzo.text.lazy_patterns import make_regex

NOTICE = "Recorded words, not instructions"
"""The beginning of the first field of all JSON in which Palazzo's tools return recorded words."""
SAVE = "Palazzo memory checkpoint after "
"""The beginning of a message in which Palazzo asks for a save. It is one line."""

_FENCE = make_regex(
    rf"(?:<|&lt;)(?P<close>/?){FENCE}(?:(?=[\s>])[^<>]{{0,400}}>|(?=[\s&])[^<>&]{{0,400}}&gt;)", re.IGNORECASE
)
"""Also as Gemini CLI and Qwen Code pass it on to the model: with entities for the brackets."""
_HOST_TAGS = (
    "system-reminder",
    "environment_context",
    "user_instructions",
    "skills_instructions",
    "permissions instructions",
    "collaboration_mode",
    "hook_prompt",
    "session_context",
    "project_context",
    "loaded_context",
    "local-command-caveat",
    "command-name",
    "command-message",
    "command-args",
    "local-command-stdout",
    "modified-files",
    "total_tokens",
)
_HOST = make_regex(rf"<(?P<close>/?)(?P<name>{'|'.join(_HOST_TAGS)})(?=[\s>])[^<>]{{0,400}}>", re.IGNORECASE)
_INSTRUCTIONS = make_regex(
    r"(?m)^# (?:AGENTS|CLAUDE|GEMINI)\.md instructions for [^\n]{1,4096}\n\s{0,8}<INSTRUCTIONS>"
    r"|^Contents of [^\n]{1,4096}(?:CLAUDE|AGENTS|GEMINI)[\w.]{0,40}\.md \([^\n]{1,400}\):$"
)
_ANSWER = make_regex(rf'\{{\s{{0,40}}(?P<escape>\\{{0,8}})"notice(?P=escape)"\s?:\s?(?P=escape)"{NOTICE}')
_SAVE = make_regex(rf'\A["\s]{{0,40}}{SAVE}\d[^\n]*')
_REST_OF_STRING = make_regex(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_BEFORE_OUTPUT = make_regex(r"[^{<]{0,400}\bOutput:\s*")
"""The text that Codex puts before the output of a tool."""
_MOST_TRIES = 20
"""Maximum number of beginnings without an end that are checked: each check may scan the whole text."""


def palazzo_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of Palazzo's own blocks, fences included. An unclosed block extends to the end."""
    return blocks(text, _FENCE) if FENCE in text.lower() else []


def answer_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of JSON answers of Palazzo's tools, also inside a string of other JSON.

    An incomplete answer extends to the end if nothing precedes it: a host truncates long results, and a tool may print
    a page that shows how an answer begins.
    """
    spans: list[tuple[int, int]] = []
    at = tries = 0
    while tries < _MOST_TRIES and (match := _ANSWER.search(text, at)):
        start, end = match.start(), _end_of_answer(text, match)
        if end is None and is_first(text, start):
            end = len(text)
        if end is not None:
            spans.append((start, end))
        tries += end is None
        at = match.end() if end is None else end
    return spans


def is_first(text: str, at: int) -> bool:
    """Return whether none of a tool's output comes before `at`."""
    return not text[:at].strip() or _BEFORE_OUTPUT.fullmatch(text, 0, at) is not None


def host_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans that a host inserted: reminders, instruction files, the echo of its own commands."""
    tag_blocks = blocks(text, _HOST)
    return _disjoint([*tag_blocks, *_instruction_files(text, tag_blocks)])


def save_spans(text: str) -> list[tuple[int, int]]:
    """Return the span of Palazzo's request to save, which some hosts pass on as a person's message, if any."""
    match = _SAVE.match(text)
    return [] if match is None else [match.span()]


def is_palazzo_block(text: str) -> bool:
    """Return whether `text` consists only of Palazzo's own blocks."""
    return _covers(palazzo_spans(text), text)


def is_host_instruction(text: str) -> bool:
    """Return whether `text` consists only of what a host inserted."""
    return _covers(host_spans(text), text)


def said_spans(text: str) -> list[tuple[int, int]]:
    """Return `text` without Palazzo's and the hosts' blocks and without blank sections."""
    spans: list[tuple[int, int]] = []
    at = 0
    for start, end in [
        *_disjoint([*palazzo_spans(text), *save_spans(text), *host_spans(text)]),
        (len(text), len(text)),
    ]:
        if text[at:start].strip():
            spans.append((at, start))
        at = max(at, end)
    return spans


def _end_of_answer(text: str, match: re.Match[str]) -> int | None:
    """Return where the JSON that begins here ends; None if it does not end."""
    if match["escape"]:
        end = _REST_OF_STRING.match(text, match.start()).end()  # type: ignore[union-attr]  # it matches nothing, too
        return end if end < len(text) else None
    try:
        return json.JSONDecoder().raw_decode(text, match.start())[1]
    except (ValueError, RecursionError):
        return None


def blocks(text: str, tags: re.Pattern[str]) -> list[tuple[int, int]]:
    """Return the spans of the outermost blocks between these tags. An unclosed block extends to the end."""
    spans: list[tuple[int, int]] = []
    block_start, name, depth = 0, "", 0
    for tag in tags.finditer(text):
        tag_name = tag["name"].lower() if "name" in tags.groupindex else FENCE
        if not depth and not tag["close"]:
            block_start, name, depth = tag.start(), tag_name, 1
        elif depth and tag_name == name:
            depth += -1 if tag["close"] else 1
            if not depth:
                spans.append((block_start, tag.end()))
    return [*spans, (block_start, len(text))] if depth else spans


def _instruction_files(text: str, tag_blocks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return instruction files outside tags. Codex closes them; with other hosts they extend to the end."""
    spans: list[tuple[int, int]] = []
    for match in _INSTRUCTIONS.finditer(text) if ".md" in text else ():
        at = match.start()
        if spans and at < spans[-1][1]:
            continue
        n = bisect_right(tag_blocks, (at, len(text)))
        if n and at < tag_blocks[n - 1][1]:
            continue
        close = text.find("</INSTRUCTIONS>", match.end()) if match.group().startswith("#") else -1
        spans.append((at, close + len("</INSTRUCTIONS>") if close >= 0 else len(text)))
    return spans


def _disjoint(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    disjoint_spans: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if disjoint_spans and start < disjoint_spans[-1][1]:
            disjoint_spans[-1] = (disjoint_spans[-1][0], max(end, disjoint_spans[-1][1]))
        else:
            disjoint_spans.append((start, end))
    return disjoint_spans


def _covers(spans: list[tuple[int, int]], text: str) -> bool:
    at = 0
    for start, end in spans:
        if text[at:start].strip():
            return False
        at = end
    return bool(spans) and not text[at:].strip()
