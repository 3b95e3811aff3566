"""Branch labels: whether words from a branch are part of the current checkout, not part of it, or unknown.

Git is queried once for all words of an answer, and the results are remembered. What git does not answer in time is
unknown. Git is never queried about words of another project, because their branch names mean nothing here. For words
outside any project's wing (a diary, or what holds for a person everywhere), the commit shows whether they belong to
this project.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from palazzo import paths
from palazzo.frozen_class import frozen
from palazzo.git.ancestry import Ancestry
from palazzo.git.commit_history import History, UnansweredError
from palazzo.git.git_files import Repository, head_of, repository_of
from palazzo.model import MAIN_LINES, Visibility
from palazzo.security.display_names import quoted_name
from palazzo.store import place_rows
from palazzo.store import write_contexts as store
from palazzo.store.write_contexts import CommitPlace

if TYPE_CHECKING:
    from palazzo.model import Drawer
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_SECONDS = 0.18
"""Seconds that one answer may wait for git in total: 0.2 s, less the possible delay at the end of a wait."""
_BEST: tuple[Visibility, ...] = ("merged", "unknown", "unmerged", "parked")
_WORDS: Mapping[Visibility, str] = {"unmerged": "unmerged", "parked": "parked", "unknown": "branch"}


@frozen
class BranchStatus:
    """Whether a text is part of the current checkout, and its label: '' if it is, or if nothing is to be compared."""

    visibility: Visibility = "merged"
    label: str = ""

    @property
    def is_elsewhere(self) -> bool:
        """Whether the content is known not to be part of the checked-out branch."""
        return self.visibility in ("unmerged", "parked")


MERGED = BranchStatus()


def with_label(words: str, label: str) -> str:
    """Return a description with its branch label, if there is one."""
    return f"{words}, {label}" if label and words else label or words


def find_origin(drawer: Drawer) -> CommitPlace:
    """Return where a drawer was written."""
    return CommitPlace(drawer.branch, drawer.commit, drawer.place.wing)


class Checkout:
    """The checkout of the caller's directory, as one answer sees it; `policy` is the setting `branch_policy`."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.policy = context.settings.text("branch_policy")
        self._known: dict[CommitPlace, BranchStatus] = {}
        self._left = _SECONDS

    @property
    def branch(self) -> str:
        """The checked-out branch; '' on a detached head or without a repository."""
        return self._head[0]

    @property
    def boosted_branch(self) -> str | None:
        """The branch whose memories are ranked higher; None without a repository, or if the setting is to ignore
        branches.
        """
        return None if self._repository is None or self.policy == "ignore" else self.branch

    def standings(self, origins: Iterable[CommitPlace]) -> dict[CommitPlace, BranchStatus]:
        """Return the branch status of each. Those that no name decides are looked up in git together."""
        unique_origins = set(origins)
        visibilities = {origin: self._by_name(origin) for origin in unique_origins - self._known.keys()}
        open_origins = [origin for origin, visibility in visibilities.items() if visibility is None]
        git_answers = self._by_git(open_origins) if open_origins else {}
        for origin, visibility in visibilities.items():
            visibility = visibility or git_answers.get((origin.branch, origin.commit), "unknown")
            if visibility == "unknown" and origin.branch in MAIN_LINES and origin.wing != self._context.home:
                visibility = "merged"  # of what is in no project's wing: most likely another project's main line
            self._known[origin] = self._make_status(origin.branch, visibility)
        return {origin: self._known[origin] for origin in unique_origins}

    def of(self, origin: CommitPlace) -> BranchStatus:
        """Return one branch status; to get several, call `standings` with all of them first."""
        return self._known[origin] if origin in self._known else self.standings([origin])[origin]

    def of_ids(
        self,
        connection: Connection,
        items: Iterable[str] = (),
        facts: Iterable[str] = (),
        sessions: Iterable[str] = (),
    ) -> dict[str, BranchStatus]:
        """Return the branch status of items, facts and sessions by id, for those that record where they were written.

        With several recorded places, the most favourable status counts: one is enough.
        """
        origin_by_id = store.of_items(connection, items) | store.of_sessions(connection, sessions)
        places = {uid: (origin,) for uid, origin in origin_by_id.items()} | store.of_facts(connection, facts)
        standings = self.standings(origin for origins in places.values() for origin in origins)
        return {
            uid: min((standings[origin] for origin in origins), key=lambda seen: _BEST.index(seen.visibility))
            for uid, origins in places.items()
        }

    def commits_here(self, commits: Collection[str]) -> set[str]:
        """Return the commits that exist in the repository; an empty set if git does not answer in time."""
        if self._repository is None or not commits or self._left <= 0:
            return set()
        began = time.monotonic()
        try:
            return History(self._repository, self._left).present(commits)
        except UnansweredError:
            return set()
        finally:
            self._left -= time.monotonic() - began

    @property
    def look(self) -> Callable[[Iterable[Drawer]], None] | None:
        """The function to call with drawers before `is_hidden` is called for each; None if nothing is hidden."""
        return self._look if self.policy == "hide" else None

    def _look(self, drawers: Iterable[Drawer]) -> None:
        self.standings(map(find_origin, drawers))

    def hides(self, status: BranchStatus) -> bool:
        """Return whether content with this branch status is hidden."""
        return self.policy == "hide" and status.is_elsewhere

    def is_hidden(self, drawer: Drawer) -> bool:
        """Return whether a drawer is hidden."""
        return self.policy == "hide" and self.of(find_origin(drawer)).is_elsewhere

    def _make_status(self, branch: str, visibility: Visibility) -> BranchStatus:
        if visibility == "merged":
            return MERGED
        return BranchStatus(
            visibility, "" if self.policy == "ignore" else f"{_WORDS[visibility]}: {quoted_name(branch)}"
        )

    def _by_name(self, origin: CommitPlace) -> Visibility | None:
        """Return the status that the names alone decide; None if git must be asked."""
        is_main = origin.branch in MAIN_LINES
        if not origin.branch or (is_main and not origin.commit):
            return "merged"
        if self._repository is None:
            return "merged" if is_main else "unknown"
        if origin.wing != self._context.home and (not origin.commit or origin.wing in self._of_projects):
            return (
                "merged"
                if is_main or (origin.branch == self.branch and origin.wing not in self._of_projects)
                else "unknown"
            )
        if origin.branch == self.branch:
            return "merged"
        return None if self._head[1] and self.policy != "ignore" else "unknown"

    def _by_git(self, origins: Collection[CommitPlace]) -> Mapping[tuple[str, str], Visibility]:
        home = self._context.home
        if self._repository is None or self._left <= 0:
            return {}
        began, tips = time.monotonic(), {}
        if home is not None:
            with self._context.reading().database.snapshot() as connection:
                tips = store.last_commits(connection, home, {origin.branch for origin in origins})
        ancestry = Ancestry(self._repository, paths.cache_directory(self._context.variables))
        visibilities = ancestry.standings({(origin.branch, origin.commit) for origin in origins}, tips, self._left)
        self._left -= time.monotonic() - began
        return visibilities

    @cached_property
    def _of_projects(self) -> frozenset[str]:
        """The wings that belong to projects. Wings of people and agents do not; they hold content of any project."""
        with self._context.reading().database.snapshot() as connection:
            return frozenset(place_rows.names_of_projects(connection))

    @cached_property
    def _repository(self) -> Repository | None:
        return repository_of(self._context.cwd)

    @cached_property
    def _head(self) -> tuple[str, str]:
        if self._repository is None:
            return "", ""
        branch, commit = head_of(self._repository)
        if not branch and not commit:  # nothing is committed yet, or refs are kept in no plain files
            return self._context.project.branch, self._context.project.commit
        return branch, commit
