"""A git repository as a remote: the branch `palazzo/v1` of any repository that the user may push to.

A push is assembled by plumbing commands alone, in a bare repository of Palazzo's own (a cache: deleting it costs a
fetch); no working files and no other branch are touched. Each push is a commit on top of the branch, with a lease: if
another device pushed in between, the commit is rebuilt on top of that device's commit and pushed again. Its parent lets
git send only what is new; a commit without a parent would be sent whole each time, in both directions.

When a device sends everything again, as after an erase, the commit has no parent. From then on the branch leads to
nothing that was erased, on any machine: caches drop it at once, and the remote drops it at its next `git gc
--prune=now`.

On the branch, a device's segments are in directories of 256 each, since a push writes the tree of every directory that
it changes.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from palazzo.errors import RemoteUnusable, SegmentUnreadable
from palazzo.sync.remotes import (
    ABOUT,
    DEVICES,
    HEAD,
    LARGEST_ABOUT,
    Kind,
    Ready,
    RemoteState,
    no_longer_there,
    refuse_other,
)
from palazzo.sync.remotes.git_cache import Cache
from palazzo.sync.remotes.git_transport import (
    LOOK_WITHIN,
    TRANSFER_WITHIN,
    Answer,
    BrokenCache,
    refuse,
    without_password,
)
from palazzo.sync.segments import LARGEST, LARGEST_HEAD, Head, Segment, SegmentName, dump_head, is_device, load_head

BRANCH = "refs/heads/palazzo/v1"
_SHELF = 256
"""Segments of an epoch that are in one directory of the branch."""
_TRIES = 8
"""Maximum number of times that a push is rebased onto other devices' pushes."""
_OVERTAKEN = re.compile(r"stale info|fetch first|cannot lock ref|failed to (?:update|lock)|already exists|old value")
_CLASHES = re.compile(r"exists; cannot create|directory file conflict", re.IGNORECASE)
_FILE, _DIRECTORY = "100644", "040000 tree"


@dataclass(slots=True)
class _Tree:
    """The branch at one commit: the blob and the size of each file."""

    commit: str = ""
    files: dict[str, tuple[str, int]] = field(default_factory=dict)
    state: RemoteState = field(default_factory=RemoteState)


class GitBranch:
    """A remote in a git repository; see `Remote`. `url` is anything that git accepts, `cache` is a Palazzo directory.

    `asks` and `heed` are the same as for `Git`.
    """

    kind: Kind = "git"

    def __init__(
        self,
        url: str,
        cache: Path,
        variables: Mapping[str, str] = os.environ,
        *,
        asks: bool = False,
        heed: Callable[[], None] = lambda: None,
    ) -> None:
        self._url = url
        self.address = without_password(url)
        self._cache = Cache(cache, variables, asks=asks, heed=heed)
        self._git = self._cache.git
        self._tree: _Tree | None = None

    def look(self) -> RemoteState:
        """Contact the remote, fetch what is new, and return its current state."""
        tip = self._tip()
        try:
            tree = self._fetch_tree(tip)
        except BrokenCache:
            self._cache.drop()
            try:
                tree = self._fetch_tree(tip)
            except BrokenCache as error:
                refuse(Answer(1, b"", str(error)), self.address)
        self._tree = tree
        return tree.state

    def read(self, device: str, name: SegmentName) -> bytes:
        """Return a segment's bytes, as of the last `look`."""
        blob, size = self._require_tree().files.get(f"{DEVICES}/{device}/{_path(name)}", ("", 0))
        if size > LARGEST:
            raise SegmentUnreadable(f"Segment {name} is larger than any that Palazzo writes; nothing was pulled.")
        try:
            if blob:
                return self._git.tell("cat-file", "blob", blob)
        except BrokenCache:
            self._tree = None
        raise SegmentUnreadable(no_longer_there(device, name))

    def introduce(self, about: bytes) -> bytes:
        """Write `palazzo.json` if there is none; return the current one."""
        with self._repair_cache():
            return self._introduce(about)

    def _introduce(self, about: bytes) -> bytes:
        for _ in range(_TRIES):
            stored_about = self.look().about
            if stored_about is not None:
                return stored_about
            tree = self._require_tree()
            commit = self._commit(self._root(tree, about, None), tree.commit)
            if self._send(commit, tree.commit):
                self._note_push(commit)
                return about
        raise self._overtaken()

    def push(
        self,
        segments: Iterable[Segment],
        *,
        expected: Head | None,
        ready: Ready,
        device_name: str = "",
        is_new_epoch: bool = False,
    ) -> Head | None:
        """Add a device's next segments and move its head to the last of them; see `Remote.push`."""
        self._cache.make()
        with self._repair_cache():
            head, added = self._added(segments, expected, device_name)
            if head is None:
                return None
            ready(head)
            self._put(head, added, expected, is_new_epoch)
        return head

    def _added(
        self, segments: Iterable[Segment], expected: Head | None, device_name: str
    ) -> tuple[Head | None, dict[str, str]]:
        """Write segments and head into the local repository; return the head, and the blobs by name."""
        head: Head | None = None
        added: dict[str, str] = {}
        for segment in segments:
            if head is None:
                self._refuse_other(segment.header.device, expected)
            added[_path(segment.name)] = self._blob(segment.content)
            head = Head.of(segment, device_name)
        if head is not None:
            added[HEAD] = self._blob(dump_head(head))
            self._cache.keep(self._with({}, "", added))
        return head, added

    def _put(self, head: Head, added: Mapping[str, str], expected: Head | None, is_new_epoch: bool) -> None:
        """Push a commit with the added files on top of the current branch."""
        for number in range(_TRIES):
            if number:
                time.sleep(random.uniform(0.05, 0.2) * number)  # noqa: S311 - so that two do not meet again
                self.look()
                self._refuse_other(head.device, expected)
            tree = self._require_tree()
            commit = self._commit(
                self._root(tree, None, (head.device, added), is_new_epoch), "" if is_new_epoch else tree.commit
            )
            if self._send(commit, tree.commit):
                self._note_push(commit)
                return
        raise self._overtaken()

    def _note_push(self, commit: str) -> None:
        """Record the pushed commit as the remote's state, even if the local repository turns out to be broken."""
        try:
            previous_tip = self._cache.tip
            self._cache.take(commit)
            self._cache.let_go()
            self._cache.clear_up(previous_tip)
            self._git.tell("gc", "--quiet", "--auto")
            self._tree = self._read_tree(commit)
        except BrokenCache:
            self._tree = None
            self._cache.drop()

    def tidy(self, head: Head) -> None:
        """Delete unreachable objects from the local repository; an interrupted push leaves nothing on the remote."""
        self._cache.make()
        with self._repair_cache():
            self._cache.clear()

    # --- what is there -------------------------------------------------------------------------------------

    def _tip(self) -> str:
        """Return the commit that the branch points to, "" if there is no such branch."""
        self._cache.make()
        answer = self._git("ls-remote", "--", self._url, BRANCH, timeout=LOOK_WITHIN)
        if answer.code:
            refuse(answer, self.address)
        for line in answer.out.decode("ascii", "replace").splitlines():
            commit, _, name = line.partition("\t")
            if name == BRANCH:
                return commit
        return ""

    def _fetch_tree(self, tip: str) -> _Tree:
        """Fetch the branch if it differs from the local copy, and read its contents."""
        self._cache.make()
        previous_tip = self._cache.tip
        if not tip and previous_tip:
            self._cache.take("")
        elif tip != previous_tip:
            answer = self._cache.fetch(self._url, BRANCH, TRANSFER_WITHIN)
            if answer.code and answer.is_of_the_way:
                refuse(answer, self.address)
            if answer.code:
                raise BrokenCache(answer.stderr)
        self._cache.clear_up(previous_tip)
        tip = self._cache.tip
        if self._tree is not None and self._tree.commit == tip:
            return self._tree
        return self._read_tree(tip) if tip else _Tree()

    def _read_tree(self, commit: str) -> _Tree:
        files: dict[str, tuple[str, int]] = {}
        for entry in self._git.tell("ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0"):
            about, _, path = entry.partition(b"\t")
            words = about.decode("ascii").split()
            if len(words) == 4 and words[0] == _FILE and words[3].isdigit():
                files[path.decode("utf-8", "replace")] = (words[2], int(words[3]))
        return _Tree(commit, files, self._build_state(files))

    def _build_state(self, files: Mapping[str, tuple[str, int]]) -> RemoteState:
        heads: dict[str, Head] = {}
        names: dict[str, list[SegmentName]] = {}
        head_errors: dict[str, str] = {}
        for path, (blob, size) in files.items():
            top, _, rest = path.partition("/")
            device, _, file = rest.partition("/")
            if top != DEVICES or not is_device(device):
                continue
            of_device = names.setdefault(device, [])
            name = SegmentName.parse(file.rpartition("/")[2])
            if name is not None and file == _path(name):
                of_device.append(name)
            elif file == HEAD:
                try:
                    content = self._git.tell("cat-file", "blob", blob) if size <= LARGEST_HEAD else b""
                    heads[device] = load_head(content, device)
                except SegmentUnreadable as error:
                    head_errors[device] = str(error)
        blob, size = files.get(ABOUT, ("", 0))
        if size > LARGEST_ABOUT:
            raise RemoteUnusable(f"{ABOUT} on {self.address} is too long to be from Palazzo; use another remote.")
        about = self._git.tell("cat-file", "blob", blob) if blob else None
        return RemoteState(
            about, heads, {device: tuple(sorted(segment_names)) for device, segment_names in names.items()}, head_errors
        )

    def _require_tree(self) -> _Tree:
        if self._tree is None:
            self.look()
        assert self._tree is not None  # noqa: S101 - `look` sets it
        return self._tree

    def _refuse_other(self, device: str, expected: Head | None) -> None:
        state = self._require_tree().state
        if device not in state.head_errors:  # one that is damaged is written anew
            refuse_other(self.address, device, state.heads.get(device), expected)

    # --- what is pushed ------------------------------------------------------------------------------------

    def _blob(self, content: bytes) -> str:
        return self._git.tell("hash-object", "-w", "--stdin", stdin=content).decode().strip()

    def _root(
        self, tree: _Tree, about: bytes | None, own: tuple[str, Mapping[str, str]] | None, is_new_epoch: bool = False
    ) -> str:
        """Create the tree of a commit: that of `tree`, except `palazzo.json` or files in a device's directory."""
        root = self._entries(tree.commit)
        if about is not None:
            root[ABOUT] = f"{_FILE} blob {self._blob(about)}"
        if own is not None:
            device, files = own
            place = f"{tree.commit}:{DEVICES}"
            devices = self._entries(place) if _is_directory(root.get(DEVICES)) else {}
            has_directory = _is_directory(devices.get(device)) and not is_new_epoch
            entries = self._entries(f"{place}/{device}") if has_directory else {}
            devices[device] = f"{_DIRECTORY} {self._with(entries, f'{place}/{device}', files)}"
            root[DEVICES] = f"{_DIRECTORY} {self._mktree(devices)}"
        return self._mktree(root)

    def _with(self, entries: dict[str, str], place: str, files: Mapping[str, str]) -> str:
        """Create a tree from `entries` (of the directory `place`), adding blobs at their paths below it."""
        shelves: dict[str, dict[str, str]] = {}
        for path, blob in files.items():
            shelf, _, name = path.rpartition("/")
            if shelf not in shelves:
                shelves[shelf] = self._entries(f"{place}/{shelf}") if _is_directory(entries.get(shelf)) else {}
            shelves[shelf][name] = f"{_FILE} blob {blob}"
        entries = entries | shelves.pop("", {})
        entries |= {shelf: f"{_DIRECTORY} {self._mktree(shelf_entries)}" for shelf, shelf_entries in shelves.items()}
        return self._mktree(entries)

    def _entries(self, tree: str) -> dict[str, str]:
        """Return the names in a tree, each with its mode, type and object."""
        if not tree:
            return {}
        output = self._git.tell("ls-tree", "-z", "--full-tree", tree).decode("utf-8", "surrogateescape")
        return {name: about for about, _, name in (entry.partition("\t") for entry in output.split("\0")) if name}

    def _mktree(self, entries: Mapping[str, str]) -> str:
        lines = "".join(f"{about}\t{name}\0" for name, about in entries.items())
        tree_input = lines.encode("utf-8", "surrogateescape")
        return self._git.tell("mktree", "-z", stdin=tree_input).decode().strip()

    def _commit(self, tree: str, parent: str) -> str:
        parent_options = ["-p", parent] if parent else []
        return self._git.tell("commit-tree", tree, *parent_options, "-m", "Palazzo").decode().strip()

    def _send(self, commit: str, over: str) -> bool:
        """Push the commit if the branch still points to `over`; return False if it does not."""
        lease = f"--force-with-lease={BRANCH}:{over}"
        names = f"{commit}:{BRANCH}"
        answer = self._git("push", "--porcelain", "--no-verify", lease, "--", self._url, names, timeout=TRANSFER_WITHIN)
        if answer.code == 0:
            return True
        rejections = [line for line in answer.out.decode("utf-8", "replace").splitlines() if line.startswith("!")]
        message = "\n".join([*rejections, answer.stderr])
        if not _OVERTAKEN.search("\n".join(rejections)) or _CLASHES.search(message):
            refuse(Answer(answer.code, answer.out, message), self.address)
        return False

    def _overtaken(self) -> RemoteUnusable:
        return RemoteUnusable(f"Other devices kept pushing to {self.address}; run the command again.")

    @contextlib.contextmanager
    def _repair_cache(self) -> Iterator[None]:
        """Drop a damaged local repository; the next use fetches it again."""
        try:
            yield
        except BrokenCache as error:
            self._tree = None
            self._cache.drop()
            raise RemoteUnusable(
                f"The local copy of {self.address} was damaged and has been deleted; run the command again."
            ) from error


def _path(name: SegmentName) -> str:
    """Return the path of a segment in its device's directory."""
    return f"{name.epoch}-{name.n // _SHELF}/{name}"


def _is_directory(entry: str | None) -> bool:
    return entry is not None and entry.startswith(_DIRECTORY)
