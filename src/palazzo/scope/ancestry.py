"""Whether what was said on a branch is part of what is checked out: by commits where they are known, not by names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from palazzo.scope.git_files import Repository, being_rebased, head_of, tips_of
from palazzo.scope.standing import MAIN_LINES, Question, Visibility
from palazzo.scope.standings_kept import ANSWER_WITHIN, kept

__all__ = ["MAIN_LINES", "Ancestry", "Visibility"]


class Ancestry:
    """What is known of one checkout's history. Ask many things at once: they cost git one walk together."""

    def __init__(self, repository: Repository, cache: Path | None = None) -> None:
        """`cache` is a directory where answers are kept for the next process; it need not be there."""
        self._repository = repository
        self._kept = kept(repository, cache)

    def standings(
        self, asked: Collection[tuple[str, str]], tips: Mapping[str, str] = {}, within: float = ANSWER_WITHIN
    ) -> dict[tuple[str, str], Visibility]:
        """Return how each (branch, commit) stands to what is checked out; "" for what is not known of either.

        `tips` are the last commits that somebody knows of branches, for those that have been deleted. Waits `within`
        seconds at most; what git has not answered by then is unknown, and known when it is asked for again.
        """
        here, head = head_of(self._repository)
        here = here or being_rebased(self._repository)
        questions: dict[tuple[str, str], Question] = {}
        ends: dict[str, tuple[str, ...]] = {}
        for branch, commit in asked:
            if branch in ("", here) or (not commit and branch in MAIN_LINES):
                continue
            if branch not in ends:
                ends[branch] = tips_of(self._repository, branch)
            questions[branch, commit] = Question(branch, commit, ends[branch], tips.get(branch, ""))
        answers = self._kept.answers(self._repository, head, questions.values(), within) if head and questions else {}
        return {
            pair: answers.get(questions[pair], "unknown") if pair in questions else "merged"
            for pair in dict.fromkeys(asked)
        }
