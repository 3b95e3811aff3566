"""A project whose files a script writes, edits, moves and renames, and citations of them that it labels.

The script knows every line by itself, not by its words: a label says what the script did to the lines that were cited,
and is made without anything that is measured. Lines that are too common to be told apart are cited on purpose, and
labelled `unknown` once their file is another.
"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from palazzo.model import UNKNOWN_LINE, Anchor, Freshness
from palazzo.text.cited_lines import digest

Form = Literal["stretch", "stated", "edit", "common", "whole", "document", "mention"]
FORMS: tuple[Form, ...] = ("stretch", "stretch", "stretch", "stated", "edit", "common", "whole", "document", "mention")
"""What is cited how often: lines that were read, lines with the file's id, an edit whose lines nobody said, a brace,
the file by its id, the file by its id and words, the file by its name alone."""
_NOUNS = (
    "order",
    "invoice",
    "customer",
    "ledger",
    "parcel",
    "address",
    "branch",
    "anchor",
    "palace",
    "drawer",
    "tunnel",
)
_VERBS = (
    "load",
    "store",
    "merge",
    "verify",
    "encode",
    "collect",
    "resolve",
    "publish",
    "archive",
    "measure",
    "inspect",
)
_TRIVIAL = ("", "    }", "    )", "        pass", "    else:", "        return None", "    try:", '    """')
_LEAST = 20
"""Characters, blanks apart, of a stretch that is told apart from others."""


@dataclass(eq=False)
class Line:
    """One line, known by itself; trailing blanks are none of its words."""

    text: str
    trailing: str = ""


@dataclass(eq=False)
class File:
    """A file wherever it is now; `path` is None once it was deleted."""

    path: str | None
    lines: list[Line]
    ends: str = "\n"

    @property
    def data(self) -> bytes:
        return "".join(f"{line.text}{line.trailing}{self.ends}" for line in self.lines).encode()

    @property
    def words(self) -> list[str]:
        return [line.text for line in self.lines]


@dataclass(frozen=True)
class Citation:
    """What was cited, and what the script knows of it."""

    form: Form
    anchor: Anchor
    file: File
    lines: tuple[Line, ...]
    data: bytes
    words: tuple[str, ...]

    @property
    def label(self) -> Freshness:
        """What the script did to it."""
        file = self.file
        if file.path is None:
            return "gone"
        stays: Freshness = "fresh" if file.path == self.anchor.path else "moved"
        if self.form == "mention":
            return "moved" if stays == "moved" else "unknown"
        if self.anchor.blob and file.data == self.data:
            return stays
        if self.form in ("whole", "document"):
            return stays if self.form == "document" and tuple(file.words) == self.words else "changed"
        if self.form == "common":
            return "unknown"
        if self.form == "edit":  # nobody said which of the file's lines: those that say so, if any do
            count, words = len(self.lines), [line.text for line in self.lines]
            return stays if words in (file.words[n : n + count] for n in range(len(file.lines))) else "changed"
        place = file.lines.index(self.lines[0]) if self.lines[0] in file.lines else -1
        if place < 0 or tuple(file.lines[place : place + len(self.lines)]) != self.lines:
            return "changed"
        return stays if self.anchor.first == place + 1 else "moved"


class Project:
    """A repository of scripted files. The same seed makes the same files, changes and citations."""

    def __init__(self, root: Path, seed: int, key: bytes, files: int = 8) -> None:
        self.root, self._key, self._chance = root, key, random.Random(seed)
        self._now = 1_700_000_000
        root.mkdir(parents=True)
        self._git("init", "-q", "-b", "main")
        self.files = [File(self._new_path(), self._function_lines(self._chance.randint(4, 14))) for _ in range(files)]
        self._save()
        self._commit()

    # --- what is cited -------------------------------------------------------------------------------------

    def cite(self, each: int) -> list[Citation]:
        """Cite each file as often as asked for."""
        forms = [self._chance.choice(FORMS) for _ in range(each)]
        return [one for file in self.files for form in forms if (one := self._citation(file, form)) is not None]

    def _citation(self, file: File, form: Form) -> Citation | None:
        assert file.path is not None
        data, words = file.data, tuple(file.words)
        blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        if form == "mention":
            return Citation(form, Anchor(file.path, how="mentioned"), file, (), data, words)
        if form in ("whole", "document"):
            known = digest(self._key, words) if form == "document" else b""
            return Citation(form, Anchor(file.path, 0, 0, known, len(words), blob), file, (), data, words)
        first, count = self._stretch(file, form == "common")
        if not count:
            return None
        anchor = Anchor(
            file.path,
            UNKNOWN_LINE if form == "edit" else first + 1,
            UNKNOWN_LINE if form == "edit" else first + count,
            digest(self._key, words[first : first + count]),
            count,
            blob if form in ("stated", "common") else "",
            "edited" if form == "edit" else "read",
        )
        return Citation(form, anchor, file, tuple(file.lines[first : first + count]), data, words)

    def _stretch(self, file: File, common: bool) -> tuple[int, int]:
        """A stretch that stands in the file once; or a line of those that stand everywhere."""
        words = file.words
        if common:
            places = [n for n, word in enumerate(words) if word in _TRIVIAL and words.count(word) > 1]
            return (self._chance.choice(places), 1) if places else (0, 0)
        for _ in range(20):
            count = self._chance.choice((1, 1, 2, 3, 5, 8, 13))
            first = self._chance.randrange(max(1, len(words) - count))
            cited = words[first : first + count]
            again = sum(words[n : n + len(cited)] == cited for n in range(len(words)))
            if again == 1 and len("".join("".join(cited).split())) >= _LEAST:
                return first, len(cited)
        return 0, 0

    # --- what happens --------------------------------------------------------------------------------------

    def change(self, steps: int) -> None:
        """Do something to the files, so many times; between them, mostly, commit it."""
        happenings: dict[Callable[[File], None], int] = {
            self._insert: 5,
            self._edit: 4,
            self._delete_lines: 3,
            self._move_lines: 2,
            self._copy_function: 1,
            self._rewrite: 1,
            self._trailing_blanks: 1,
            self._other_line_ends: 1,
            self._rename: 3,
            self._move_directory: 1,
            self._delete: 1,
            self._add: 1,
        }
        for _ in range(steps):
            there = [file for file in self.files if file.path is not None]
            (happen,) = self._chance.choices([*happenings], [*happenings.values()])
            happen(self._chance.choice(there))
            self._save()
            if self._chance.random() < 0.7:
                self._commit()

    def rename_untold(self) -> None:
        """Move a file, and tell git nothing."""
        there = [file for file in self.files if file.path is not None]
        file = self._chance.choice(there)
        self._to(file, self._new_path() if self._chance.random() < 0.5 else self._beside(file))

    def _insert(self, file: File) -> None:
        at = self._chance.randint(0, len(file.lines))
        file.lines[at:at] = self._function_lines(1)[: self._chance.randint(1, 8)]

    def _edit(self, file: File) -> None:
        for _ in range(self._chance.randint(1, 3)):
            file.lines[self._chance.randrange(len(file.lines))] = Line(f"    {self._statement()}")

    def _delete_lines(self, file: File) -> None:
        if len(file.lines) > 20:
            first = self._chance.randrange(len(file.lines) - 5)
            del file.lines[first : first + self._chance.randint(1, 5)]

    def _move_lines(self, file: File) -> None:
        first = self._chance.randrange(len(file.lines))
        moved = file.lines[first : first + self._chance.randint(3, 15)]
        del file.lines[first : first + len(moved)]
        at = self._chance.randint(0, len(file.lines))
        file.lines[at:at] = moved

    def _copy_function(self, file: File) -> None:
        """As people do: below it, and then the copy is edited."""
        first = self._chance.randrange(max(1, len(file.lines) - 10))
        copied = [Line(line.text) for line in file.lines[first : first + 10]]
        copied[len(copied) // 2] = Line(f"    {self._statement()}")
        file.lines[first + 10 : first + 10] = copied

    def _rewrite(self, file: File) -> None:
        file.lines = [line for line in file.lines if self._chance.random() < 0.2] + self._function_lines(5)

    def _trailing_blanks(self, file: File) -> None:
        for line in self._chance.sample(file.lines, min(5, len(file.lines))):
            line.trailing = "  "

    def _other_line_ends(self, file: File) -> None:
        file.ends = "\r\n" if file.ends == "\n" else "\n"

    def _rename(self, file: File) -> None:
        """In a commit of its own, or with a line or two edited in it."""
        self._commit()
        self._to(file, self._new_path() if self._chance.random() < 0.5 else self._beside(file))
        if self._chance.random() < 0.5:
            self._edit(file)
        self._save()
        self._git("add", "-A")
        if self._chance.random() < 0.7:
            self._commit()

    def _move_directory(self, file: File) -> None:
        assert file.path is not None
        self._commit()
        source, target = file.path.rpartition("/")[0], f"{self._chance.choice(_NOUNS)}_{self._chance.randrange(1000)}"
        for one in self.files:
            if one.path is not None and one.path.startswith(f"{source}/"):
                self._to(one, f"{target}/{one.path.removeprefix(f'{source}/')}")
        self._commit()

    def _delete(self, file: File) -> None:
        if sum(one.path is not None for one in self.files) > 3:
            assert file.path is not None
            (self.root / file.path).unlink()
            file.path = None

    def _add(self, file: File) -> None:
        """A file of the same name as another, in another directory, with words of its own."""
        path = self._beside(file)
        if not any(one.path == path for one in self.files):
            self.files.append(File(path, self._function_lines(5)))

    # --- how it is written ---------------------------------------------------------------------------------

    def _to(self, file: File, path: str) -> None:
        assert file.path is not None
        if any(one.path == path for one in self.files):
            return
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / file.path).rename(self.root / path)
        file.path = path

    def _new_path(self) -> str:
        directory, name = self._chance.choice(_NOUNS), self._chance.choice(_VERBS)
        return f"src/{directory}/{name}_{self._chance.randrange(10_000)}.py"

    def _beside(self, file: File) -> str:
        assert file.path is not None
        return f"src/{self._chance.choice(_NOUNS)}_{self._chance.randrange(100)}/{file.path.rpartition('/')[2]}"

    def _function_lines(self, functions: int) -> list[Line]:
        lines: list[str] = []
        for _ in range(functions):
            lines += [f"def {self._chance.choice(_VERBS)}_{self._name()}({self._name()}: int) -> None:", '    """']
            for _ in range(self._chance.randint(3, 14)):
                is_common = self._chance.random() < 0.3
                lines.append(self._chance.choice(_TRIVIAL) if is_common else f"    {self._statement()}")
            lines += ["        return None", ""]
        return [Line(text) for text in lines]

    def _statement(self) -> str:
        shape = self._chance.choice(("{} = {}.{}({})", "if {} > {}.{}[{}]:", "{}.append({}.{} + {})", "# {}: {} {} {}"))
        return shape.format(*(self._name() for _ in range(4)))

    def _name(self) -> str:
        return f"{self._chance.choice(_NOUNS)}_{self._chance.choice(_VERBS)}"

    def _save(self) -> None:
        for file in self.files:
            if file.path is not None:
                path = self.root / file.path
                path.parent.mkdir(parents=True, exist_ok=True)
                if not path.exists() or path.read_bytes() != file.data:
                    path.write_bytes(file.data)

    def _commit(self) -> None:
        self._now += 60
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", "a step")

    def _git(self, *arguments: str) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        for who in ("AUTHOR", "COMMITTER"):
            environment |= {f"GIT_{who}_NAME": "A", f"GIT_{who}_EMAIL": "a@example.com"}
            environment |= {f"GIT_{who}_DATE": f"{self._now} +0000"}
        asked = ["git", "-c", "gc.auto=0", "-c", "core.autocrlf=false", *arguments]
        subprocess.run(asked, cwd=self.root, env=environment, check=True, capture_output=True)
