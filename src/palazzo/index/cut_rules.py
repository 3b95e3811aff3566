"""Cut rules: which spans of the archive become drawers. Pure functions; no storage.

A conversation becomes *exchanges* (a person's message and the answer to it, split where it is long), *tool* drawers (a
call with its output), *attachment* drawers (a file that came with a message) and *reasoning* drawers (what agents
thought). A document becomes its *sections*. Boundaries depend only on the text before them, so a conversation that
grows keeps the drawers it has.

Words that a person forgot leave a hole: no span crosses it, and cutting starts anew after it. Untrusted content, and
words that were said under its influence, never share a drawer with other words, which would then have the same low
trust. Text that a person quotes is in drawers of its own, whose role is `quoted`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from palazzo.frozen_class import frozen
from palazzo.index import rule_tags
from palazzo.index.memory_calls import asks_in_shell
from palazzo.index.visible_text import (
    Range,
    approved_trust,
    is_mention,
    quoted_ranges,
    subtract_ranges,
    told_ranges,
    trust_of_part,
)
from palazzo.model import DrawerKind, Part, Trust
from palazzo.security.memory_tools import is_memory_tool, says_something_new
from palazzo.security.quotations import Quotation
from palazzo.security.trust_order import least_trust
from palazzo.text.hashed_words import COVER
from palazzo.text.sections import DocumentKind, cut_document
from palazzo.text.text_pieces import error_lines, split_span

DRAWER_CHARACTERS = 1800
"""Maximum length of an exchange drawer: about 450 tokens, which a hit can show in full within the default budget."""
PASSAGE_CHARACTERS = 1000
"""Maximum length of a text that gets one vector: about 240 tokens, the limit of the bundled model."""
SECTION_CHARACTERS = 1000
"""Maximum length of a document's section: one vector each."""
TOOL_CHARACTERS = 4000
"""Maximum length of a piece of tool output or of an attachment in one drawer. All of it is indexed by keyword, piece by
piece.
"""
SEGMENT_ITEMS = 64
"""Number of rows after which a turn without a new human message begins a new segment, so that re-cutting stays
bounded.
"""
ENTRY_CHARACTERS = 4000
"""Maximum length of a diary entry, to-do or reminder in one drawer: it was written to be read in full."""
_ERROR_PASSAGES = 3


_KINDS_OF_SHELVES: Mapping[str, DrawerKind] = {
    "diary": "diary",
    "todo": "todo",
    "reminder": "reminder",
    "commit": "commit",
}


@frozen
class ItemContext:
    """Properties that a drawer inherits from its first item. `room` is a row id, times are microseconds.

    `shelf` and `topic` belong to a note: the kind of its drawers if it is not a plain note, and its subject.
    `is_tainted` says that a note's writer had read untrusted content. `works_for` is the session for which a
    sub-agent's own session works, if the host states it; `directory` is the working directory of the session, as a row
    states it.
    """

    thread: str = ""
    created_at: int = 0
    recorded_at: int = 0
    branch: str = ""
    commit: str = ""
    room: int = 0
    shelf: str = ""
    topic: str = ""
    is_tainted: bool = False
    works_for: str = ""
    directory: str = ""


@frozen
class CutItem:
    """The properties of an item that the cutter needs. `holes` are forgotten ranges, sorted.

    `outside` are the starts of the parts (0 for an item without parts) whose words are trusted no more than untrusted
    content, although the row does not say so (`sessions/session_taint`). `local` are the starts of results that a
    host's reader classified as untrusted, and that are known to come from a local tool.
    """

    row: int
    uid: bytes
    role: str
    author: str
    text: str
    parts: tuple[Part, ...]
    trust: Trust
    ordinal: int
    holes: tuple[Range, ...] = ()
    context: ItemContext = ItemContext()
    outside: frozenset[int] = frozenset()
    local: frozenset[int] = frozenset()


@frozen
class Belief:
    """The trust of some words, and their trust once a person has approved them."""

    trust: Trust
    trust_if_approved: Trust
    is_quoted: bool = False

    @property
    def is_outside(self) -> bool:
        """Return whether the trust is that of untrusted content."""
        return self.trust == "external"


def belief(item: CutItem, part: Part) -> Belief:
    """Return the trust of a part of an item."""
    claimed_trust = (
        "tool" if part.start in item.local and part.kind == "tool_result" else trust_of_part(part, item.trust)
    )
    return Belief("external" if part.start in item.outside else claimed_trust, approved_trust(claimed_trust))


QUOTED_ROLE = "quoted"
"""The role of a drawer of quoted text: its words are not the user's."""
_QUOTED_BELIEF = Belief("external", "tool", is_quoted=True)


def _least(beliefs: Iterable[Belief]) -> Belief:
    every = list(beliefs)
    return Belief(least_trust(entry.trust for entry in every), least_trust(entry.trust_if_approved for entry in every))


@frozen
class CutSpan:
    """A range of an item's text; `belief` is that of its part if it belongs to an exchange."""

    item: CutItem
    start: int
    end: int
    belief: Belief | None = None

    @property
    def text(self) -> str:
        """Return the exact words."""
        return self.item.text[self.start : self.end]


@frozen
class Draft:
    """A drawer before it is stored: its spans in order, the ranges that get a vector, and its tags by rule."""

    kind: DrawerKind
    spans: tuple[CutSpan, ...]
    passages: tuple[CutSpan, ...]
    role: str
    belief: Belief
    title: str = ""
    author: str = ""
    tags: tuple[str, ...] = ()
    number: int = field(default=0, compare=False)
    is_plain: bool = False
    """Whether it is a piece of a text that the rules could not cut (`index/fallback_cut`)."""


def segments(items: Sequence[CutItem]) -> list[list[CutItem]]:
    """Split a thread before each message of a person, and after SEGMENT_ITEMS rows without one."""
    groups: list[list[CutItem]] = []
    for item in items:
        if not groups or item.role == "user" or len(groups[-1]) >= SEGMENT_ITEMS:
            groups.append([])
        groups[-1].append(item)
    return groups


def cut_segment(items: Sequence[CutItem]) -> list[Draft]:
    """Cut one segment of a conversation into exchange, tool, attachment and reasoning drawers."""
    exchanges = map(_exchange, _group(_split(items, _find_prose_ranges)))
    reasoning_drafts = map(_reasoning_draft, _group(_split(items, _find_reasoning_ranges)))
    return _drop_covered_drafts([*exchanges, *_tools(items), *_attachments(items), *reasoning_drafts])


def cut_section(item: CutItem, kind: DocumentKind, title: str, path: str = "") -> list[Draft]:
    """Cut one version of the document at `path` at its headings."""
    drafts = []
    tags = rule_tags.of_file(path)
    for section in cut_document(item.text, kind, SECTION_CHARACTERS):
        heading = " › ".join(section.title_path) or title
        for start, end in subtract_ranges(section.start, section.end, item.holes):
            span = CutSpan(item, start, end)
            if span.text.strip():
                worth = Belief(item.trust, approved_trust(item.trust))
                drafts.append(Draft("section", (span,), (span,), "author", worth, heading, item.author, tags))
    return _drop_covered_drafts(drafts)


def cut_note(item: CutItem, title: str = "") -> list[Draft]:
    """Cut a note; most notes are one drawer, and so are nearly all diary entries, to-dos and reminders."""
    drafts = []
    kind = note_kind(item)
    limit = DRAWER_CHARACTERS if kind == "note" else ENTRY_CHARACTERS
    title = item.context.topic or title
    worth = note_belief(item)
    for start, end in subtract_ranges(0, len(item.text), item.holes):
        for piece in split_span(item.text, start, end, limit):
            span = CutSpan(item, *piece)
            passages = tuple(_passages(span))
            drafts.append(Draft(kind, (span,), passages, item.role, worth, title, item.author))
    return _drop_covered_drafts(drafts)


def _drop_covered_drafts(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts, without those that have no text left after an erasure."""
    return [draft for draft in drafts if not _is_covered(draft)]


def _is_covered(draft: Draft) -> bool:
    texts = [span.text for span in draft.spans]
    return any(COVER in text for text in texts) and not any(text.strip(f"{COVER} \n\r\t") for text in texts)


def note_belief(item: CutItem) -> Belief:
    """Return the trust of a note; once approved, its writer's, unless it has other reasons for distrust."""
    return Belief(item.trust, "agent" if item.context.is_tainted else approved_trust(item.trust))


def note_kind(item: CutItem) -> DrawerKind:
    """Return the kind of a note's drawers."""
    return _KINDS_OF_SHELVES.get(item.context.shelf, "note")


def _group(spans: Iterable[tuple[CutSpan, bool]]) -> Iterator[list[CutSpan]]:
    """Yield the spans of one drawer each; a hole, another trust and the largest size begin the next."""
    group: list[CutSpan] = []
    size = 0
    outside = (False, False)
    for span, barrier in spans:
        length = span.end - span.start
        belief_of_span = span.belief
        previous = outside
        outside = (belief_of_span.is_outside, belief_of_span.is_quoted) if belief_of_span else (False, False)
        if group and (barrier or outside != previous or size + length > DRAWER_CHARACTERS):
            yield group
            group, size = [], 0
        group.append(span)
        size += length
    if group:
        yield group


_BelievedRange = tuple[int, int, Belief]


def _split(
    items: Sequence[CutItem], find_ranges: Callable[[CutItem], Iterable[_BelievedRange]]
) -> Iterator[tuple[CutSpan, bool]]:
    """Yield pieces of the messages, and whether a hole comes before each."""
    barrier = False
    for item in items:
        if item.role not in ("user", "assistant"):
            continue
        for start, end, part_belief in find_ranges(item):
            at = start
            for low, high in subtract_ranges(start, end, item.holes):
                barrier = barrier or low > at
                for piece in split_span(item.text, low, high, PASSAGE_CHARACTERS):
                    yield CutSpan(item, *piece, part_belief), barrier
                    barrier = False
                at = high
            barrier = barrier or at < end


def _find_prose_ranges(item: CutItem) -> Iterator[_BelievedRange]:
    """Yield the ranges of prose with a speaker, and their trust; an item without parts is all text."""
    whole = (Part("text", 0, len(item.text)),) if item.text else ()
    for part in item.parts or whole:
        if part.kind == "text":
            part_belief = belief(item, part)
            quotations = [] if part_belief.is_outside else quoted_ranges(item.text, part, item.role, item.trust)
            for low, high in subtract_ranges(part.start, part.end, told_ranges(item.text, part, item.role)):
                yield from _with_quotations(low, high, part_belief, quotations)


def _find_reasoning_ranges(item: CutItem) -> Iterator[_BelievedRange]:
    """Yield the ranges of an agent's reasoning, without the memory that it repeats, and their trust."""
    for part in item.parts:
        if part.kind == "thinking" and item.role == "assistant":
            for low, high in subtract_ranges(part.start, part.end, told_ranges(item.text, part, item.role)):
                yield low, high, belief(item, part)


def _with_quotations(
    start: int, end: int, person_belief: Belief, quotations: Sequence[Quotation]
) -> Iterator[_BelievedRange]:
    """Yield a range in pieces: the person's own words, and quoted words."""
    at = start
    for quotation in quotations:
        low, high = max(at, quotation.start), min(end, quotation.end)
        if low < high:
            if at < low:
                yield at, low, person_belief
            yield low, high, _QUOTED_BELIEF
            at = high
    if at < end:
        yield at, end, person_belief


def _exchange(spans: Sequence[CutSpan]) -> Draft:
    merged_spans = _join_neighbours(spans)
    roles = list(dict.fromkeys(span.item.role for span in merged_spans))
    author = next((span.item.author for span in merged_spans if span.item.author), "")
    worth = _least(span.belief for span in spans if span.belief is not None)
    if all(span.belief is not None and span.belief.is_quoted for span in spans):
        return Draft("exchange", tuple(merged_spans), tuple(spans), QUOTED_ROLE, worth, tags=(rule_tags.QUOTED_TAG,))
    return Draft("exchange", tuple(merged_spans), tuple(spans), "+".join(roles), worth, "", author)


def _reasoning_draft(spans: Sequence[CutSpan]) -> Draft:
    """Return a drawer of an agent's reasoning: indexed by all its words, and by the meaning of its beginning."""
    worth = _least(span.belief for span in spans if span.belief is not None)
    return Draft("reasoning", tuple(_join_neighbours(spans)), (spans[0],), "assistant", worth, "", spans[0].item.author)


def _join_neighbours(spans: Sequence[CutSpan]) -> list[CutSpan]:
    """Join spans of one item that are separated only by white space, so that a drawer shows them unbroken."""
    merged_spans: list[CutSpan] = []
    for span in spans:
        last = merged_spans[-1] if merged_spans else None
        if last and last.item.row == span.item.row and not span.item.text[last.end : span.start].strip():
            merged_spans[-1] = replace(last, end=span.end)
        else:
            merged_spans.append(span)
    return merged_spans


def _tools(items: Sequence[CutItem]) -> Iterator[Draft]:
    """Yield the tool drawers; each output is in one: with the first call of its id, wherever that is, or alone.

    Queries to a memory and its answers are in none. A call that the memory refused is in one: its words may be nowhere
    else.
    """
    results = _results_by_call(items)
    call_ids = {part.call for item in items for part in item.parts if part.kind == "tool_call"} - {""}
    for item in items:
        for part in item.parts:
            if part.kind == "tool_call":
                answers = results.pop(part.call, [])
                failed = any(answer.failed for _, answer in answers)
                if failed or (says_something_new(part.name) and not asks_in_shell(item.text, part)):
                    outputs = [] if is_memory_tool(part.name) else answers
                    yield from _tool_drafts(part.name, [(item, part)], outputs)
            elif part.kind == "tool_result" and part.call not in call_ids:
                yield from _tool_drafts(part.name, [], [(item, part)])


def _results_by_call(items: Sequence[CutItem]) -> dict[str, list[tuple[CutItem, Part]]]:
    results: dict[str, list[tuple[CutItem, Part]]] = {}
    for item in items:
        for part in item.parts:
            if part.kind == "tool_result" and part.call:
                results.setdefault(part.call, []).append((item, part))
    return results


def _tool_drafts(name: str, calls: list[tuple[CutItem, Part]], results: list[tuple[CutItem, Part]]) -> Iterator[Draft]:
    """Yield the drawers of one call: the first holds the call and the head of its output."""
    pieces = [piece for item, part in (*calls, *results) for piece in _pieces(item, part, TOOL_CHARACTERS)]
    worth = _least(belief(item, part) for item, part in (*calls, *results))
    group: list[CutSpan] = []
    first = True
    for piece in pieces:
        if group and sum(s.end - s.start for s in group) + piece.end - piece.start > TOOL_CHARACTERS:
            yield _tool_draft(name, group, results, worth, first)
            group, first = [], False
        group.append(piece)
    if group:
        yield _tool_draft(name, group, results, worth, first)


def _tool_draft(
    name: str, spans: list[CutSpan], results: list[tuple[CutItem, Part]], worth: Belief, first: bool
) -> Draft:
    passages = [_head(span) for span in spans] if first else []
    outputs = {item.row for item, _ in results}
    failed = any(_overlaps(item, part, spans) for item, part in results if part.failed)
    for span in spans:
        if span.item.row in outputs:
            errors = _errors(span)
            failed = failed or bool(errors)
            passages.extend(_not_in(passages, errors))
    tags = (rule_tags.ERROR,) if failed else ()
    return Draft("tool", tuple(_join_neighbours(spans)), tuple(passages), "tool", worth, name, "", tags)


def _overlaps(item: CutItem, part: Part, spans: Sequence[CutSpan]) -> bool:
    return any(span.item.row == item.row and span.start < part.end and part.start < span.end for span in spans)


def _attachments(items: Sequence[CutItem]) -> Iterator[Draft]:
    """Yield the drawers of attached files: every piece is indexed by its words, the first by meaning too."""
    for item in items:
        for part in item.parts:
            if part.kind != "attachment" or is_mention(item.text[part.start : part.end]):
                continue
            worth = belief(item, part)
            for n, piece in enumerate(_pieces(item, part, TOOL_CHARACTERS)):
                passages = (_head(piece),) if n == 0 else ()
                tags = rule_tags.of_file(part.name)
                yield Draft("attachment", (piece,), passages, item.role, worth, part.name, item.author, tags)


def _head(span: CutSpan) -> CutSpan:
    return next(_passages(span), span)


def _errors(span: CutSpan) -> list[CutSpan]:
    """Return the error lines of a piece of output."""
    ranges = error_lines(span.text, _ERROR_PASSAGES * 4)
    return [CutSpan(span.item, span.start + start, span.start + end) for start, end in ranges]


def _not_in(passages: Sequence[CutSpan], errors: Sequence[CutSpan]) -> list[CutSpan]:
    """Return the first error lines that no passage contains yet."""
    return [
        _head(error)
        for error in errors
        if not any(p.item.row == error.item.row and p.start <= error.start and error.end <= p.end for p in passages)
    ][:_ERROR_PASSAGES]


def _pieces(item: CutItem, part: Part, limit: int) -> Iterator[CutSpan]:
    memory_ranges = told_ranges(item.text, part, item.role)
    excluded_ranges = sorted([*item.holes, *memory_ranges]) if memory_ranges else item.holes
    for start, end in subtract_ranges(part.start, part.end, excluded_ranges):
        for piece in split_span(item.text, start, end, limit):
            yield CutSpan(item, *piece)


def _passages(span: CutSpan) -> Iterator[CutSpan]:
    for piece in split_span(span.item.text, span.start, span.end, PASSAGE_CHARACTERS):
        yield CutSpan(span.item, *piece)
