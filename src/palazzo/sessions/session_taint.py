"""Which parts of a session are untrusted content, and which of its words are tainted by it. Pure; no storage.

    a person speaks       a turn begins: the agent has no untrusted content before it
    untrusted content     the output of a tool whose call is not known to be local, whatever its row says;
                          foreign content that an earlier call of the session left, once a call reads it;
                          the report of a sub-agent that met untrusted content, or about whose work nothing is known;
                          the summary of a session that met some; the task that such an agent gives to another one;
                          untrusted content that a memory tool returns;
                          a conversation that a file or a program shows (`security/conversation_files`);
                          text that a person quotes, pastes or fences, except program text
    after that            the agent's words and calls are tainted, and the output of these calls
    in later turns        the agent's words and calls are tainted where they repeat untrusted content
                          (`security/echo_detection`)

The marks of a row do not depend on later rows. They depend on rows before its stretch only through `Around`. So a
session that is marked piece by piece gets the same marks as one that is marked at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from palazzo.index.cut_rules import CutItem, belief
from palazzo.index.memory_calls import asks_in_shell
from palazzo.index.visible_text import quoted_ranges
from palazzo.model import ContentKind, Micros, Part
from palazzo.security.command_trust import CommandEffect
from palazzo.security.conversation_files import holds_conversation
from palazzo.security.echo_detection import Echoes, Utterance
from palazzo.security.file_writes import names_mentioned, names_saved
from palazzo.security.memory_tools import is_memory_tool
from palazzo.security.own_sources import OwnSources
from palazzo.security.project_paths import Project
from palazzo.security.tool_kinds import is_own_server, is_reader, is_shell
from palazzo.security.tool_trust import command_in, judge_tool
from palazzo.sessions.call_arguments import arguments_of
from palazzo.sessions.call_targets import is_edit
from palazzo.sessions.row_words import heard_words, holds_echo
from palazzo.sessions.session_state import Moment, SessionState, StateChange, written_program
from palazzo.store.taint_rows import Mark, MarkKind
from palazzo.text.lazy_patterns import make_regex

_AGENTS = frozenset(
    (
        *("agent", "task", "subagent", "subtask", "spawnagent", "waitagent", "wait", "sendinput", "sendmessage"),
        *("resumeagent", "closeagent", "taskoutput", "agentoutput", "agentoutputtool", "delegate", "delegatetask"),
        *("runsubagent", "dispatchagent", "codebaseinvestigator"),
    )
)
"""Tools whose results are reports of another agent, by their letters and digits only."""
_SAYS_NOTHING = frozenset(("spawnagent", "sendinput", "sendmessage", "resumeagent", "closeagent"))
"""Those of them that answer before the agent does."""
_NOTIFIES = make_regex(r"<(?:task-notification|subagent_notification)>")
"""The form in which a host forwards the report of an agent that worked in the background."""
_ID = make_regex(r"\b(?=[\w-]{0,63}\d)[A-Za-z0-9_][\w-]{6,63}\b")
_MOST_IDS = 64
_LONGEST_REPORT = 200_000
_SEARCHES = make_regex(r"(?:^|[\s;&|(])(?:git\s+grep|e?f?grep|rg|ag|ack|findstr|select-string)\b", re.IGNORECASE)
_SEARCHERS = frozenset({"grep", "grepfiles", "grepsearch", "searchfilecontent", "search", "ripgrep"})
_LONGEST_CALL = 4_000
_LOOKS_AT_NOTHING = make_regex(r"todo|plan|question|^skill|^toolsearch")
"""Tools that receive file names but read no files, by their letters and digits only; editing tools are listed
separately.
"""
_EXTERNAL_LABEL = make_regex(
    r"trust\W{1,8}external\b| · external\b|^[^\S\n]*[0-9a-f]{6,32}\b[^\n]{0,400}  external\b", re.MULTILINE
)
"""The form in which Palazzo's answers label recorded untrusted content (`operations/agent_tools/tool_answers`,
`features/search/hit_view`).
"""


class Row(NamedTuple):
    """A row of a thread, and its status in it."""

    item: CutItem
    status: ContentKind


class _Call(NamedTuple):
    """How a call's result is classified."""

    is_tainted: bool
    looks: bool
    searches: bool
    remembers: bool
    is_local: bool = False
    """Whether all of its output is known to be local, although its row may say otherwise."""
    is_allowed: bool = False
    """Whether a person allows it (`trust.own`)."""


class Around(Protocol):
    """The context on which a row's marks depend in addition to the earlier rows in its range."""

    def hash_name(self, name: str) -> bytes:
        """Return the hash under which a name is stored."""
        ...

    @property
    def root(self) -> str:
        """Return the directory in which the session began, '' if no row says it."""
        ...

    def foreign_keys(self, row: CutItem) -> Mapping[bytes, Moment]:
        """Return when each key became foreign, before the range or in another thread before the row's time."""
        ...

    @property
    def own_keys(self) -> Mapping[bytes, Moment]:
        """Return when each key became the user's own, before the range in this thread."""
        ...

    def own(self, row: CutItem, part: Part) -> OwnSources:
        """Return the sources that the user has allow-listed for a call."""
        ...

    def is_awaited(self, call: bytes) -> bool:
        """Return whether the output of a call in an earlier range, or segment, is not known to be local."""
        ...

    def has_tainted_agent(self, ids: frozenset[str], since: Micros, until: Micros) -> bool | None:
        """Return whether a sub-agent with one of these ids has read untrusted content; None if none is known.

        If no sub-agent has one of the ids, those that worked for this thread `since`, and began `until` then, are
        checked.
        """
        ...

    def is_approved(self, row: CutItem, part: Part) -> bool:
        """Return whether a person approved a part of a row: it then taints nothing."""
        ...

    def repeats(self, row: CutItem) -> bool:
        """Return whether untrusted content is among the earlier rows that a resumed session repeats from another."""
        ...

    def was_led_astray(self, row: CutItem) -> bool:
        """Return whether the task at a thread's beginning came from an agent that had read untrusted content."""
        ...

    def words_before(self) -> Sequence[Utterance]:
        """Return the text of the thread before the range, as far back as echoes are checked."""
        ...

    def has_tainted_transcript(self, row: CutItem, since: Micros) -> bool:
        """Return whether, in the transcript of a session known from hooks, this turn read untrusted content."""
        ...


def is_human(item: CutItem) -> bool:
    """Return whether the speaker is a person, not an agent in a person's place."""
    return item.role == "user" and item.trust == "user" and all(part.trust != "agent" for part in item.parts)


def parts_of(item: CutItem) -> tuple[Part, ...]:
    """Return the parts of an item; for an item without parts, its whole text as one."""
    return item.parts or (Part("text", 0, len(item.text)),)


class TaintTracker:
    """Marks the rows of a thread, one after the other.

    `tainted`: whether untrusted content is in the agent's context at the beginning; `met`: whether it ever was;
    `since`: when a person last spoke.
    """

    def __init__(
        self, around: Around, is_tainted: bool, has_met: bool, since: Micros, begins: bool, has_snippet: bool = False
    ) -> None:
        self._around, self.is_tainted, self.has_met, self.since, self._begins = (
            around,
            is_tainted,
            has_met,
            since,
            begins,
        )
        self._state = SessionState(around.hash_name)
        self._state.earlier_own_times = around.own_keys
        self._awaited: set[str] = set()
        self._calls: dict[str, _Call] = {}
        """The calls of this segment, by id."""
        self._has_snippet = has_snippet
        self._echoes: Echoes | None = None
        """The thread's words; None until an agent speaks after untrusted words."""
        self._pending_utterances: list[Utterance] = []
        """The messages of this range before that."""

    def begin_segment(self) -> None:
        """Forget the calls of the previous segment: a result after the segment's end stands alone."""
        self._calls = {}

    def take(self, row: Row) -> Iterator[Mark]:
        """Yield the marks of the next row."""
        had_met = self.has_met
        marks = list(self._row(row))
        yield from marks
        if row.status == "said":
            self._hear(heard_words(row.item, marks, is_local=not had_met))
        self._begins = self._begins and row.status != "said"

    def distrust(self, item: CutItem) -> Iterator[Mark]:
        """Yield the marks of a row on which every rule fails: all of it counts as untrusted."""
        yield from (self._meets(item, part.start) for part in parts_of(item))

    def _row(self, row: Row) -> Iterator[Mark]:
        item = row.item
        if self._begins and row.status == "said" and item.context.works_for:
            yield Mark(item.row, 0, "works", self._around.hash_name(item.context.works_for))
        if row.status == "summary":
            if self.has_met or self._around.repeats(item):
                yield self._meets(item, 0)
            return
        if row.status == "said" and is_human(item):
            self.is_tainted, self.since = False, Micros(item.context.created_at)
            yield from self._quotes(item)
        elif self._begins and (row.status, item.role) == ("said", "user") and self._around.was_led_astray(item):
            yield self._meets(item, parts_of(item)[0].start)
        if row.status == "meta" and item.role == "user" and _NOTIFIES.search(item.text):
            yield from self._report(item, Part("text", 0, len(item.text)))
            return
        if item.role == "assistant" and not self.is_tainted and self._around.has_tainted_transcript(item, self.since):
            self.is_tainted = True
        for part in parts_of(item):
            yield from self._part(item, part)

    def _quotes(self, item: CutItem) -> Iterator[Mark]:
        """Mark a person's quotations. Program text alone taints nothing: only its echoes are checked."""
        for part in parts_of(item):
            for quotation in quoted_ranges(item.text, part, item.role, item.trust):
                if self._around.is_approved(item, part):
                    continue
                if quotation.kind == "code":
                    self._has_snippet = True
                    yield Mark(item.row, quotation.start, "snippet")
                else:
                    self.is_tainted = self.has_met = True
                    yield Mark(item.row, quotation.start, "quoted")

    def _hear(self, utterances: Sequence[Utterance]) -> None:
        if self._echoes is None:
            self._pending_utterances += utterances
            return
        for utterance in utterances:
            self._echoes.hear(utterance)

    def _is_echo(self, item: CutItem, part: Part) -> bool:
        """Return whether an agent repeats untrusted words from earlier turns."""
        if not (self.has_met or self._has_snippet) or not holds_echo(item, part):
            return False
        if self._echoes is None:
            self._echoes = Echoes([*self._around.words_before(), *self._pending_utterances])
            self._pending_utterances = []
        return self._echoes.are_in(item.text[part.start : part.end])

    def _part(self, item: CutItem, part: Part) -> Iterator[Mark]:
        if belief(item, part).is_outside and self._is_local_after_all(part):
            yield Mark(item.row, part.start, "local")
            yield from self._result(item, part)
        elif belief(item, part).is_outside and not self._around.is_approved(item, part):
            yield self._meets(item, part.start)
            if part.kind == "tool_result":
                yield from self._saved_files(item, part)
        elif part.kind == "tool_call":
            yield from self._call(item, part)
        elif part.kind == "tool_result":
            yield from self._result(item, part)
        elif belief(item, part).trust != "user" and (self.is_tainted or self._is_echo(item, part)):
            yield Mark(item.row, part.start, "tainted")

    def _is_local_after_all(self, part: Part) -> bool:
        call = self._calls.get(part.call) if part.call and part.kind == "tool_result" else None
        return call is not None and call.is_local and not call.looks

    def _call(self, item: CutItem, part: Part) -> Iterator[Mark]:
        is_tainted = self.is_tainted or self._is_echo(item, part)
        if is_tainted:
            yield Mark(item.row, part.start, "tainted")
            if _plain(part.name) in _AGENTS:
                yield Mark(item.row, part.start, "gave")
        words = item.text[part.start : part.end]
        arguments = arguments_of(part.name, words)
        project = Project(self._around.root, item.context.directory or self._around.root)
        self._state.earlier_foreign_times = self._around.foreign_keys(item)
        effect, is_allowed = self._judge_call(item, part, arguments, project)
        if is_allowed:
            yield Mark(item.row, part.start, "own")
        command = command_in(arguments) if is_shell(part.name) else ""
        remembers = is_memory_tool(part.name) or (bool(command) and asks_in_shell(item.text, part))
        is_foreign = not effect.is_local and not remembers
        looks = is_foreign or self._looks(part, command or words, effect, project)
        yield from self._leaves(item, part, effect, looks, arguments, project)
        if looks and part.call:
            self._awaited.add(part.call)
            yield Mark(item.row, part.start, "awaited", self._around.hash_name(part.call))
        searches = effect.shows_diff or _searches(part.name, command)
        is_judged = is_shell(part.name) or is_reader(part.name) or is_allowed
        is_local = effect.is_local and is_judged
        self._calls[part.call] = _Call(is_tainted, looks, searches, remembers, is_local, is_allowed)

    def _judge_call(
        self, item: CutItem, part: Part, arguments: dict[str, object], project: Project
    ) -> tuple[CommandEffect, bool]:
        """Judge a call; return also whether only the user's allow-list makes it local."""
        effect = judge_tool(part.name, arguments, project, self._state.holds)
        if effect.is_local:
            return effect, False
        own = self._around.own(item, part)
        allowed_effect = judge_tool(part.name, arguments, project, self._state.holds, own) if own else effect
        return (allowed_effect, True) if allowed_effect.is_local else (effect, False)

    def _looks(self, part: Part, words: str, effect: CommandEffect, project: Project) -> bool:
        """Return whether a local call reads foreign content that an earlier call left."""
        if self._state.is_empty or is_edit(part.name) or _LOOKS_AT_NOTHING.search(_plain(part.name)):
            return False
        if is_own_server(part.name):
            return False
        names = names_mentioned(words[:_LONGEST_CALL])
        return self._state.reads_others(effect) or self._state.looks_at_foreign(names, words[:_LONGEST_CALL], project)

    def _leaves(
        self,
        item: CutItem,
        part: Part,
        effect: CommandEffect,
        is_others: bool,
        arguments: dict[str, object],
        project: Project,
    ) -> Iterator[Mark]:
        """Record the changes that a call makes, and yield their marks."""
        changes = [*self._state.consequences(effect, is_others), *self._state.restorations(effect, project)]
        for path, text in effect.scripts.items():
            changes += written_program(path, text, True, project)
        if is_edit(part.name):
            paths = [value for key in ("file_path", "path", "filePath") for value in _values(arguments.get(key))]
            words = item.text[part.start : part.end]
            content = words.partition("\ncontent:")[2].lstrip("\n ") if "\ncontent:" in words else ""
            if paths and content and not self.is_tainted and not is_others:
                changes.append(StateChange("own", f"made:{project.resolve(paths[0])}"))
            for path in paths[:1]:
                changes += written_program(path, content or words, bool(content), project)
        at = (item.context.created_at, item.ordinal, part.start)
        for change in changes:
            self._state.note(change, at)
            kind: MarkKind = "fetched" if change.kind == "foreign" else "made"
            yield Mark(item.row, part.start, kind, self._around.hash_name(change.key))

    def _saved_files(self, item: CutItem, part: Part) -> Iterator[Mark]:
        """Yield the files in which a tool's output says that it was saved."""
        for name in sorted(names_saved(item.text[part.start : part.end])):
            at = (item.context.created_at, item.ordinal, part.start)
            self._state.note(StateChange("foreign", f"any:{name}"), at)
            yield Mark(item.row, part.start, "fetched", self._around.hash_name(f"any:{name}"))
            self._state.note(StateChange("foreign", name), at)
            yield Mark(item.row, part.start, "fetched", self._around.hash_name(name))

    def _result(self, item: CutItem, part: Part) -> Iterator[Mark]:
        call = self._calls.get(part.call) if part.call else None
        if call is None:
            looks = part.call in self._awaited or (bool(part.call) and self._is_awaited(part.call))
            call = _Call(self.is_tainted, looks, _searches(part.name, ""), is_memory_tool(part.name))
        words = item.text[part.start : part.end]
        looks, is_tainted = call.looks, call.is_tainted
        if not looks and call.searches and not self._is_untouched(item):
            looks = any(self._state.is_foreign_key(name) for name in names_mentioned(words))
        prints = (is_shell(part.name) or is_reader(part.name)) and not (call.remembers or call.is_allowed)
        meets = (
            looks
            or (call.remembers and _EXTERNAL_LABEL.search(words) is not None)
            or (prints and holds_conversation(words))
        )
        if meets and not self._around.is_approved(item, part):
            yield self._meets(item, part.start)
            yield from self._saved_files(item, part)
        elif _plain(part.name) in _AGENTS:
            yield from self._report(item, part, is_tainted)
        elif is_tainted:
            yield Mark(item.row, part.start, "tainted")

    def _is_awaited(self, call: str) -> bool:
        return self._around.is_awaited(self._around.hash_name(call))

    def _report(self, item: CutItem, part: Part, is_tainted: bool = False) -> Iterator[Mark]:
        words = item.text[part.start : part.end][-_LONGEST_REPORT:]
        ids = frozenset(list(dict.fromkeys(reversed(_ID.findall(words))))[:_MOST_IDS]) | {part.call} - {""}
        yield from (Mark(item.row, part.start, "reported", self._around.hash_name(agent_id)) for agent_id in ids)
        yield Mark(item.row, part.start, "reported")
        has_met = self._around.has_tainted_agent(ids, self.since, Micros(item.context.created_at))
        if has_met is None:  # no sub-agent of these ids is known
            has_met = not part.failed and _plain(part.name) not in _SAYS_NOTHING
        if has_met and not self._around.is_approved(item, part):
            yield self._meets(item, part.start)
        elif is_tainted:
            yield Mark(item.row, part.start, "tainted")

    def _is_untouched(self, item: CutItem) -> bool:
        self._state.earlier_foreign_times = self._around.foreign_keys(item)
        return self._state.is_empty

    def _meets(self, item: CutItem, start: int) -> Mark:
        self.is_tainted = self.has_met = True
        return Mark(item.row, start, "met")


def _searches(tool: str, command: str) -> bool:
    """Return whether the output may be lines of files that the call does not name."""
    return _plain(tool) in _SEARCHERS or _SEARCHES.search(command) is not None


@lru_cache(maxsize=128)
def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _values(value: object) -> list[str]:
    if isinstance(value, list):
        return [item for item in value if isinstance(item, str)]
    return [value] if isinstance(value, str) else []
