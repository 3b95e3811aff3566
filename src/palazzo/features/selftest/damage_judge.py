"""A process that judges damaged files: `python -m palazzo.features.selftest.damage_judge SOUND`, one line for each.

It is a process of its own, so that a crash of the interpreter is counted and not the end of the selftest. Requests and
answers are lines of JSON:

    {"kind": "database", "path": "…", "repair": true}
    {"verdict": "detected", "altered": 0, "repaired": true, "sentence": "…"}

A file is *detected* as damaged if `verify`, or whatever reads such a file, says so. Undetected damage is *harmless* if
every record reads as before, *rolled back* if the last ones are missing, and *served* if anything reads differently.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from palazzo.derived import integrity_checks
from palazzo.errors import PalazzoError
from palazzo.features.selftest.archived_truth import Truth, read_items
from palazzo.features.selftest.steps import run_operation
from palazzo.operations import damage
from palazzo.operations.context import Context
from palazzo.palace import Palace, without_embedder

Verdict = Literal["detected", "harmless", "rolled back", "served", "bug"]


@dataclass
class Judgement:
    """What became of a damaged file. `altered` are texts that read differently before anything was checked."""

    verdict: Verdict
    sentence: str = ""
    altered: int = 0
    repaired: bool | None = None


class Judge:
    """Compares damaged copies with a sound palace."""

    def __init__(self, sound: Path) -> None:
        self._truth = Truth.of(sound)

    def judge(self, request: Mapping[str, Any]) -> Judgement:
        """Judge one file; everything that is not a sentence for a person is a bug."""
        path = Path(request["path"])
        try:
            match request["kind"]:
                case "database" | "log":
                    return self._judge_palace(path, request["repair"])
                case "backup":
                    return self._judge_backup(path)
                case "export":
                    return self._judge_export(path)
                case _:
                    return self._judge_remote(path)
        except PalazzoError as error:
            return Judgement("detected", str(error))
        except Exception as error:  # noqa: BLE001 - what ends as a bug is what is looked for
            with Context(path, path.parent, os.environ) as context:
                explained = damage.explain(context, error) if request["kind"] in ("database", "log") else None
            if explained is not None:
                return Judgement("detected", str(explained))
            return Judgement("bug", f"{type(error).__name__}: {error}")

    def _judge_palace(self, path: Path, repairs: bool) -> Judgement:
        texts = read_items(path, self._truth.items)
        altered = sum(not is_same for is_same in texts.values())
        sentence = _verify(path)
        if not sentence:
            return self._compare(path, altered)
        judgement = Judgement("detected", sentence, altered)
        if repairs:
            judgement.repaired = self._repair(path, {item for item, is_same in texts.items() if is_same})
        return judgement

    def _compare(self, path: Path, altered: int = 0) -> Judgement:
        records = Truth.of(path).records
        if records == self._truth.records:
            return Judgement("harmless", "", altered)
        missing, new = self._truth.records - records, records - self._truth.records
        sentence = f"{missing.total()} records are missing, {new.total()} are new"
        return Judgement("served" if new else "rolled back", sentence, altered)

    def _repair(self, path: Path, readable: set[str]) -> bool:
        """Repair a damaged palace; return whether it is sound then, and reads all that could be read before."""
        try:
            result = run_operation(path, os.environ, "repair")
        except PalazzoError:
            return False
        return bool(result.ok) and readable <= {
            i for i, is_same in read_items(path, self._truth.items).items() if is_same
        }

    def _judge_backup(self, path: Path) -> Judgement:
        for check in integrity_checks.verify_truth(path):
            if not check.ok:
                return Judgement("detected", f"{check.name}: {check.detail}")
        return self._compare(path)

    def _judge_export(self, path: Path) -> Judgement:
        palace = path.parent / "imported" / "palace.db"
        palace.parent.mkdir()
        run_operation(palace, os.environ, "import", path=path, trust="user")
        sentence = _verify(palace)
        return Judgement("detected", sentence) if sentence else self._compare_items(palace)

    def _judge_remote(self, path: Path) -> Judgement:
        """Pull from the damaged remote into the palace at `path`."""
        result = run_operation(path, os.environ, "sync_pull")
        notes = [note for remote in result.remotes for note in remote.notes]
        if notes:
            return Judgement("detected", notes[0])
        return self._compare_items(path)

    def _compare_items(self, palace: Path) -> Judgement:
        texts = read_items(palace, self._truth.items)
        altered = sum(not is_same for is_same in texts.values())
        if altered:
            return Judgement("served", f"{altered} texts read differently", altered)
        missing = len(self._truth.items) - len(texts)
        return Judgement("rolled back", f"{missing} texts are missing") if missing else Judgement("harmless")


def _verify(path: Path) -> str:
    """Return the first thing that `verify` finds wrong; '' if there is none."""
    with Palace.open(path, "read") as palace:
        for check in integrity_checks.verify(palace.database, without_embedder):
            if not check.ok:
                return f"{check.name}: {check.detail}"
    return ""


def main(arguments: list[str]) -> int:
    """Judge files until there are no more requests."""
    judge = Judge(Path(arguments[0]))
    for line in sys.stdin:
        judgement = judge.judge(json.loads(line))
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(json.dumps(asdict(judgement)) + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
