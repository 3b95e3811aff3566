"""Ancestry: whether words from a branch are part of the checkout; judged by known commits rather than by names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from palazzo.git.branch_status import MAIN_LINES, Question, Visibility
from palazzo.git.branch_status_cache import ANSWER_WITHIN, get_cache
from palazzo.git.git_files import Repository, find_rebase_branch, head_of, tips_of

__all__ = ["MAIN_LINES", "Ancestry", "Visibility"]


class Ancestry:
    """The known history of one checkout. Ask many questions at once: git then needs only one walk."""

    def __init__(self, repository: Repository, cache: Path | None = None) -> None:
        """Create it. `cache` is a directory where answers are kept for the next process; it need not exist."""
        self._repository = repository
        self._kept = get_cache(repository, cache)

    def standings(
        self, pairs: Collection[tuple[str, str]], tips: Mapping[str, str] = {}, timeout: float = ANSWER_WITHIN
    ) -> dict[tuple[str, str], Visibility]:
        """Return how each (branch, commit) relates to what is checked out; "" if both are unknown.

        `tips` are the last known commits of branches, for branches that have been deleted. Waits at most `timeout`
        seconds; what git has not answered by then is unknown, and known when it is requested again.
        """
        current_branch, head = head_of(self._repository)
        current_branch = current_branch or find_rebase_branch(self._repository)
        questions: dict[tuple[str, str], Question] = {}
        ends: dict[str, tuple[str, ...]] = {}
        for branch, commit in pairs:
            if branch in ("", current_branch) or (not commit and branch in MAIN_LINES):
                continue
            if branch not in ends:
                ends[branch] = tips_of(self._repository, branch)
            questions[branch, commit] = Question(branch, commit, ends[branch], tips.get(branch, ""))
        answers = self._kept.answers(self._repository, head, questions.values(), timeout) if head and questions else {}
        return {
            pair: answers.get(questions[pair], "unknown") if pair in questions else "merged"
            for pair in dict.fromkeys(pairs)
        }
