"""Documents that the rules newly exclude: retired, and restored when the rules include them again.

A rule here is a permanent one: the patterns of the settings and of the project's own file, ignore files, and a policy
that the project states. A deleted file's document stays searchable, since a volume may not be mounted or another branch
may be checked out. So does a document that a single run did not include (`--include`, `--mode`), and one that was named
explicitly. Nothing is deleted: an act on the current version excludes a document, and another act restores it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote_to_bytes

from palazzo.archive import acts as deeds
from palazzo.frozen_class import frozen
from palazzo.git.project_file import Policy, read_project_config
from palazzo.git.project_identity import project_root
from palazzo.model import Micros
from palazzo.sources.formats.document_kinds import CODE_OF_PROJECT, is_code, is_document
from palazzo.sources.ignore_rules import Globs, Layers, find_ignore_file, layers_above, layers_in
from palazzo.store import act_rows, palace_overview
from palazzo.store.act_rows import ActKind
from palazzo.store.database import Connection, Database
from palazzo.store.palace_overview import DocumentRow

AT_ONCE = 20
"""Maximum number of documents that one transaction retires, so that other writers do not wait long."""
_ACTOR = "mine"


@frozen
class LastingRules:
    """Rules that exclude files of a directory until someone changes the rules; patterns as in ignore files."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    skip_directories: tuple[Path, ...] = ()
    gitignore: bool = True
    policy: Policy | None = None


@frozen
class Settlement:
    """Documents to exclude, each with the reason, and documents to include again."""

    out: tuple[tuple[DocumentRow, str], ...] = ()
    back: tuple[DocumentRow, ...] = ()
    overrides: tuple[tuple[DocumentRow, str], ...] = ()
    """Documents that a rule excludes but that were named explicitly: they stay included in later runs."""
    taken_back: int = 0
    """Number of documents that were excluded until now and are included again."""


def lasting_rules(
    top: Path, exclude: Sequence[str] = (), skip_directories: Sequence[Path] = (), gitignore: bool = True
) -> LastingRules:
    """Return the rules for everything at or below `top`: the given ones and those of its project's own file."""
    config = read_project_config(project_root(top))
    return LastingRules(config.include, (*exclude, *config.exclude), tuple(skip_directories), gitignore, config.policy)


def compare(
    connection: Connection, top: Path, rules: LastingRules, mined_uris: Collection[str], outright: bool = False
) -> Settlement:
    """Compare what is known at or below `top` (absolute, no link) with the rules.

    `mined_uris` are the addresses that mining read. If a rule excludes one of them nevertheless, it was named, or a
    directory around it was, or the run was `outright`: told to disregard ignore files or to include a pattern.
    """
    documents = palace_overview.documents_at(connection, top.as_uri())
    marks = _marks(connection, documents)
    walk_judge = _Judge(top, rules) if top.is_dir() else None
    root = project_root(top if walk_judge else top.parent)
    project_judge = (
        _Judge(root, replace(rules, gitignore=True)) if outright or top != root or not rules.gitignore else None
    )
    out: list[tuple[DocumentRow, str]] = []
    back: list[DocumentRow] = []
    overrides: list[tuple[DocumentRow, str]] = []
    for document in documents:
        mark = marks.get(document.item_uid, "")
        if document.uri in mined_uris:
            reason = project_judge.reason(_path_of(document.uri, top)) if project_judge and mark != "named" else ""
            if reason:
                overrides.append((document, reason))
            elif mark == "out":
                back.append(document)
        elif walk_judge and not mark and _is_there(_path_of(document.uri, top)):
            reason = walk_judge.reason(_path_of(document.uri, top))
            if reason:
                out.append((document, reason))
    taken_back = len(back) + sum(marks.get(document.item_uid) == "out" for document, _ in overrides)
    return Settlement(tuple(out), tuple(back), tuple(overrides), taken_back)


def settle(database: Database, clock: Callable[[], Micros], settlement: Settlement) -> None:
    """Retire documents that are now excluded and restore those included again, in batches."""
    deeds_to_do: list[tuple[ActKind, Sequence[DocumentRow], dict[str, str]]] = [
        ("take-in", settlement.back, {}),
        *(("leave-out", documents, {"reason": reason}) for reason, documents in _by_reason(settlement.out)),
        *(("take-in", documents, {"named": reason}) for reason, documents in _by_reason(settlement.overrides)),
    ]
    for kind, documents, detail in deeds_to_do:
        for start in range(0, len(documents), AT_ONCE):
            rows = [document.item for document in documents[start : start + AT_ONCE]]
            with database.transaction() as connection:
                deeds.act_on_items(connection, kind, rows, _ACTOR, clock(), detail)


def not_left_out(connection: Connection, documents: Sequence[DocumentRow]) -> list[DocumentRow]:
    """Return those of the documents that no rule excluded before."""
    marks = _marks(connection, documents)
    return [document for document in documents if marks.get(document.item_uid) != "out"]


class _Judge:
    """Determines which rule excludes a file; each directory is judged once."""

    def __init__(self, top: Path, rules: LastingRules) -> None:
        self._top, self._rules = top, rules
        self._include, self._exclude = Globs(rules.include), Globs(rules.exclude)
        self._root = project_root(top)
        layers = (*layers_above(top, self._root, rules.gitignore), *layers_in(top, rules.gitignore))
        self._directories: dict[Path, tuple[Path, Layers] | str] = {top: (self._root, layers)}

    def reason(self, path: Path) -> str:
        """Return why the file at `path`, below the top, is excluded; "" if no rule excludes it."""
        above = self._directory(path.parent)
        if isinstance(above, str):
            return above
        refusal = self._find_refusal(path, above, is_directory=False)
        if refusal:
            return refusal
        bases = (str(self._top), str(above[0]))
        if self._include and not self._include.match(str(path), bases, is_directory=False):
            return "not among the files that the project includes"
        if self._rules.policy == "docs" and not self._include and is_code(path) and not is_document(path):
            return CODE_OF_PROJECT
        return ""

    def _directory(self, path: Path) -> tuple[Path, Layers] | str:
        if path not in self._directories:
            above = self._directory(path.parent)
            self._directories[path] = above if isinstance(above, str) else self._enter_directory(path, above)
        return self._directories[path]

    def _enter_directory(self, path: Path, above: tuple[Path, Layers]) -> tuple[Path, Layers] | str:
        refusal = self._find_refusal(path, above, is_directory=True)
        if refusal:
            return refusal
        root, layers = (path, ()) if (path / ".git").exists() else above
        return root, (*layers, *layers_in(path, self._rules.gitignore))

    def _find_refusal(self, path: Path, above: tuple[Path, Layers], *, is_directory: bool) -> str:
        root, layers = above
        if path in self._rules.skip_directories:
            return "excluded"
        if self._exclude.match(str(path), (str(self._top), str(root)), is_directory=is_directory):
            return "excluded"
        ignore_file = find_ignore_file(layers, str(path), is_directory=is_directory)
        return f"ignored by {ignore_file}" if ignore_file else ""


def _marks(connection: Connection, documents: Sequence[DocumentRow]) -> dict[bytes, str]:
    """Return what the last act on each version did: `out`, `named`, or "" if it was included again."""
    marks: dict[bytes, str] = {}
    for act, span in act_rows.acts_on(connection, [document.item_uid for document in documents]):
        if act.kind == "leave-out":
            marks[span.item_uid] = "out"
        elif act.kind == "take-in":
            marks[span.item_uid] = "named" if "named" in act.detail else ""
    return marks


def _by_reason(document_reasons: Sequence[tuple[DocumentRow, str]]) -> Iterator[tuple[str, list[DocumentRow]]]:
    for reason in dict.fromkeys(reason for _, reason in document_reasons):
        yield reason, [document for document, why in document_reasons if why == reason]


def _path_of(uri: str, top: Path) -> Path:
    """Return the path of an address at or below that of `top`."""
    below = uri[len(top.as_uri()) :].lstrip("/")
    return top / os.fsdecode(unquote_to_bytes(below)) if below else top


def _is_there(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
