"""Which files are read, as what, and which are not, and why."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from palazzo.errors import NotFound
from palazzo.sources.discovery import Candidate, Mode, Rules, discover
from palazzo.sources.walk import Skip

FIXTURES = Path(__file__).parents[1] / "fixtures" / "claude-code"

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="names and files that Windows does not have")


def put(root: Path, *names: str, text: str = "# Words\n") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def repository(root: Path) -> None:
    put(root, ".git/HEAD", text="ref: refs/heads/main\n")


def taken(root: Path, rules: Rules | None = None) -> list[str]:
    return [f.path.relative_to(root).as_posix() for f in discover([root], rules) if isinstance(f, Candidate)]


def skipped(root: Path, rules: Rules | None = None) -> dict[str, str]:
    return {f.path.relative_to(root).as_posix(): f.reason for f in discover([root], rules) if isinstance(f, Skip)}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An empty directory by its real path (a temporary one may lie behind a link)."""
    root = tmp_path.resolve() / "acme"
    root.mkdir()
    return root


def test_documents_are_taken_and_code_only_when_asked_for(tree: Path) -> None:
    put(tree, "README.md", "docs/a.rst", "src/a.py", "deploy.yaml", "photo.png", "Cargo.lock", "empty.md")
    (tree / "empty.md").write_text("")
    assert taken(tree) == ["README.md", "deploy.yaml", "docs/a.rst"]
    assert taken(tree, Rules("all")) == ["README.md", "deploy.yaml", "docs/a.rst", "src/a.py"]
    assert taken(tree, Rules(policy="all")) == taken(tree, Rules("all"))
    put(tree, "palazzo.toml", "mempalace.yaml", ".claude/palazzo.local.md", "entities.json")
    assert "entities.json" not in taken(tree, Rules(include=("*",)))
    reasons = skipped(tree)
    assert {reasons[name] for name in ("palazzo.toml", "mempalace.yaml", ".claude/palazzo.local.md")} == {
        "a memory tool's configuration, not a document"
    }
    assert reasons["empty.md"] == "empty"
    assert reasons["Cargo.lock"] == "a lock file"
    assert "--mode all" in reasons["src/a.py"]


def test_every_file_is_a_candidate_or_has_a_reason(tree: Path) -> None:
    names = ["a.md", "b.py", "c.png", "d/e.md", "d/.env", "f.jsonl"]
    put(tree, *names)
    assert sorted([*taken(tree), *skipped(tree)]) == sorted(names)


def test_two_walks_agree_and_go_by_name(tree: Path) -> None:
    put(tree, "b.md", "a.md", "B.md", "c/a.md", "b/z.md", "b/a/x.md")
    assert taken(tree) == taken(tree)
    assert taken(tree) == ["B.md", "a.md", "b.md", "b/z.md", "b/a/x.md", "c/a.md"]


def test_a_missing_path_is_said_at_once(tree: Path) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        discover([tree, tree / "no"])


def test_overlapping_paths_give_each_file_once(tree: Path) -> None:
    put(tree, "docs/a.md")
    found = [f.path for f in discover([tree, tree / "docs", tree / "docs/a.md"]) if isinstance(f, Candidate)]
    assert found == [tree / "docs/a.md"]


# Ignore files


def test_nested_ignore_files_with_negation(tree: Path) -> None:
    repository(tree)
    put(tree, "a.md", "log.txt", "keep.txt", "docs/log.txt", "docs/b.md", "made/c.md", "docs/deep/d.md")
    put(tree, ".gitignore", text="*.txt\n!keep.txt\nmade/\n/docs/deep/*\n!/docs/deep/d.md\n")
    put(tree, "docs/.gitignore", text="!log.txt\nb.md\n")
    assert taken(tree) == ["a.md", "keep.txt", "docs/log.txt", "docs/deep/d.md"]
    assert skipped(tree)["made"] == "ignored by .gitignore"
    assert "made/c.md" in taken(tree, Rules(gitignore=False))


def test_what_lies_in_an_ignored_directory_stays_ignored(tree: Path) -> None:
    repository(tree)
    put(tree, "build/c.md")
    put(tree, ".gitignore", text="build/\n!build/c.md\n")
    assert taken(tree) == []


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git")
@pytest.mark.parametrize("seed", range(40))
def test_ignore_files_mean_what_they_mean_to_git(tree: Path, seed: int) -> None:
    chance = random.Random(seed)
    patterns = "*.md !*.md a/ !a/ /a a/* !a/b.md **/b.md b !b a/** c/**/d.md [ab].md ?.md /b/*.md #x \\!x d */d !c/ *"
    for _ in range(14):
        folders = [chance.choice("abcd") for _ in range(chance.randint(0, 3))]
        put(tree, "/".join([*folders, f"{chance.choice('abcd')}.md"]))
    for folder in [tree, *(path for path in tree.rglob("*") if path.is_dir())]:
        if folder == tree or chance.random() < 0.4:
            put(folder, ".gitignore", text="\n".join(chance.choices(patterns.split(), k=chance.randint(1, 4))))
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    asked = ["git", "-c", "core.excludesFile=", "ls-files", "-co", "--exclude-standard", "-z", "*.md"]
    listed = subprocess.run(asked, cwd=tree, check=True, capture_output=True, text=True).stdout
    assert sorted(taken(tree)) == sorted(listed.split("\0")[:-1])


def test_the_project_s_ignore_files_hold_in_a_part_of_it(tree: Path) -> None:
    repository(tree)
    put(tree, "docs/a.md", "docs/b.md", "docs/c/b.md")
    put(tree, ".gitignore", text="b.md\n")
    assert taken(tree / "docs") == ["a.md"]


def test_ignore_files_above_the_repository_do_not(tree: Path) -> None:
    put(tree, ".gitignore", text="*.md\n")
    repository(tree / "inner")
    put(tree, "inner/a.md")
    assert taken(tree / "inner") == ["a.md"]
    assert taken(tree) == ["inner/a.md"]


def test_an_ignored_directory_that_is_named_is_read(tree: Path) -> None:
    repository(tree)
    put(tree, "build/docs/c.md", "build/log.txt")
    put(tree, ".gitignore", text="build/\n*.txt\n")
    assert taken(tree / "build") == ["log.txt", "docs/c.md"]
    assert taken(tree / "build/docs") == ["c.md"]


def test_palazzos_own_ignore_file_holds_always_and_has_the_last_word(tree: Path) -> None:
    repository(tree)
    put(tree, "a.md", "b.md", "c.md")
    put(tree, ".gitignore", text="b.md\n")
    put(tree, ".palazzoignore", text="a.md\n!b.md\n")
    assert taken(tree) == ["b.md", "c.md"]
    assert taken(tree, Rules(gitignore=False)) == ["b.md", "c.md"]
    assert skipped(tree)["a.md"] == "ignored by .palazzoignore"


def test_a_pattern_that_cannot_be_read_costs_itself_only(tree: Path) -> None:
    put(tree, "a.md", "b.md")
    (tree / ".gitignore").write_bytes(b"!\n[z-\xff\n/\nb.md\r\n")
    assert taken(tree) == ["a.md"]


OUTPUTS = ("build", "dist", "target", "out", "coverage", "vendor", "obj")


@pytest.mark.parametrize("is_checkout", [True, False])
def test_build_output_is_not_read_unless_it_is_named(tree: Path, is_checkout: bool) -> None:
    if is_checkout:
        subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    put(tree, "docs/a.md", *(f"{name}/doc/a.md" for name in OUTPUTS), "packages/web/dist/a.md")
    assert taken(tree) == ["docs/a.md"]
    reported_paths = {entry.path.relative_to(tree).as_posix() for entry in discover([tree]) if _is_reported(entry)}
    assert reported_paths == {*OUTPUTS, "packages/web/dist"}
    assert "name it to read it" in skipped(tree)["vendor"]
    assert taken(tree / "vendor") == ["doc/a.md"]
    assert taken(tree, Rules(include=("out/**",))) == ["out/doc/a.md"]
    assert not set(OUTPUTS) & set(skipped(tree, Rules("convos")))  # an export may lie anywhere
    both = [candidate for candidate in discover([tree, tree / "dist"]) if isinstance(candidate, Candidate)]
    assert [(candidate.relative, candidate.root) for candidate in both] == [
        ("docs/a.md", tree),
        ("dist/doc/a.md", tree),
    ]


def _is_reported(entry: Candidate | Skip) -> bool:
    return isinstance(entry, Skip) and not entry.expected


@pytest.mark.skipif(shutil.which("git") is None, reason="asks git")
def test_of_directories_called_like_build_output_what_git_tracks_is_read(tree: Path) -> None:
    put(tree, "build/README.md", "build/cmd/use.md", "build/log/run.md", "vendor/lib/README.md", "out/a.md")
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    subprocess.run(["git", "add", "build/README.md", "build/cmd", "vendor"], cwd=tree, check=True)
    put(tree, "build/made.md", "build/cmd/made.md")
    assert taken(tree) == ["build/README.md", "build/cmd/use.md", "vendor/lib/README.md"]
    assert taken(tree / "build") == ["README.md", "made.md", "cmd/made.md", "cmd/use.md", "log/run.md"]
    repository(tree / "vendor" / "theirs")
    put(tree, "vendor/theirs/a.md")
    assert "vendor/theirs/a.md" in taken(tree)


def test_directories_that_programs_fill_are_not_entered(tree: Path) -> None:
    put(tree, "node_modules/a/README.md", ".venv/a.md", "__pycache__/a.md", "env/a.md", "made/doc/a.md", "a.md")
    put(tree, "env/pyvenv.cfg", "made/CACHEDIR.TAG")
    assert taken(tree) == ["a.md"]
    assert "CACHEDIR.TAG" in skipped(tree)["made"]
    assert taken(tree / "node_modules") == ["a/README.md"]


# Include and exclude


def test_include_takes_only_what_matches_of_whatever_kind(tree: Path) -> None:
    put(tree, "docs/a.md", "src/a.py", "b.md", "app.log")
    assert taken(tree, Rules(include=("docs/", "*.log"))) == ["app.log", "docs/a.md"]


def test_exclude_wins(tree: Path) -> None:
    put(tree, "docs/a.md", "docs/old/b.md", "c.md")
    assert taken(tree, Rules(exclude=("docs/old/",))) == ["c.md", "docs/a.md"]
    assert taken(tree, Rules(include=("docs/**",), exclude=("old",))) == ["docs/a.md"]


def test_patterns_count_from_the_given_path_or_the_project(tree: Path) -> None:
    repository(tree)
    put(tree, "docs/old/b.md", "docs/a.md")
    for pattern in ("/old/", "/docs/old/"):
        assert taken(tree / "docs", Rules(exclude=(pattern,))) == ["a.md"]


# Transcripts


@pytest.fixture
def mixed(tree: Path) -> Path:
    """A project with documents, and a real session with its sub-agent and its logs among them."""
    put(tree, "README.md", "docs/a.md", "docs/b.md", "docs/c.md")
    shutil.copytree(FIXTURES / "2.1.330", tree / "sessions")
    for name in ("hooks.jsonl", "stream-json.jsonl"):
        shutil.copy(FIXTURES / name, tree)
    return tree


def kinds(root: Path, mode: Mode) -> dict[str, str]:
    found = [f for f in discover([root], Rules(mode)) if isinstance(f, Candidate)]
    return {f.path.name: f.kind for f in found}


def test_auto_takes_transcripts_by_content_and_documents_besides(mixed: Path) -> None:
    session, agent = "fe532e01-9804-438f-a6da-df3ae7e1b7a7.jsonl", "agent-ad54d616a2fa255a4.jsonl"
    documents = dict.fromkeys(["README.md", "a.md", "b.md", "c.md"], "document")
    assert kinds(mixed, "auto") == documents | {session: "claude-code", agent: "claude-code"}
    assert kinds(mixed, "docs") == documents
    assert kinds(mixed, "convos") == {session: "claude-code", agent: "claude-code"}


def test_a_place_of_transcripts_is_read_as_such(mixed: Path) -> None:
    put(mixed / "sessions", "notes.md")
    assert set(kinds(mixed / "sessions", "auto").values()) == {"claude-code"}
    assert "among transcripts" in skipped(mixed / "sessions")["notes.md"]


def test_logs_of_agents_are_skipped_with_a_reason(mixed: Path) -> None:
    recognising: tuple[Mode, ...] = ("auto", "convos")
    for mode in recognising:
        reasons = skipped(mixed, Rules(mode))
        assert "hook calls" in reasons["hooks.jsonl"]
        assert "output stream" in reasons["stream-json.jsonl"]
    reading: tuple[Mode, ...] = ("docs", "all")
    for mode in reading:
        assert "JSON lines" in skipped(mixed, Rules(mode))["hooks.jsonl"]


def test_a_file_that_is_named_is_taken_whatever_its_kind(mixed: Path) -> None:
    put(mixed, "main.py", "trace.log")
    named = [mixed / "main.py", mixed / "trace.log", mixed / "hooks.jsonl", mixed / "README.md"]
    found = list(discover(named))
    assert [isinstance(f, Candidate) for f in found] == [True, True, False, True]
    assert isinstance(next(discover([mixed / "README.md"], Rules("convos"))), Skip)


# Projects


def test_a_file_belongs_to_the_innermost_project(tree: Path) -> None:
    repository(tree)
    repository(tree / "inner")
    put(tree, "docs/a.md", "inner/docs/b.md")
    found = [f for f in discover([tree / "docs", tree / "inner"]) if isinstance(f, Candidate)]
    assert [(f.root, f.relative) for f in found] == [(tree, "docs/a.md"), (tree / "inner", "docs/b.md")]


def test_a_project_file_marks_a_project_without_a_repository(tree: Path) -> None:
    put(tree, "palazzo.toml", "docs/a.md")
    [found] = [f for f in discover([tree / "docs"]) if isinstance(f, Candidate)]
    assert (found.root, found.relative) == (tree, "docs/a.md")


# Files that are none, and names that are odd


@posix_only
def test_fifos_sockets_and_devices_are_never_opened(tree: Path) -> None:
    put(tree, "a.md")
    os.mkfifo(tree / "pipe.md")
    os.mkfifo(tree / "pipe.jsonl")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        try:
            os.chdir(tree)  # a socket's whole path may have a hundred bytes
            server.bind("s.md")
        finally:
            os.chdir(here)
        assert taken(tree) == ["a.md"]
        assert skipped(tree) == {"pipe.md": "a FIFO", "pipe.jsonl": "a FIFO", "s.md": "a socket"}
    [device] = discover([Path("/dev/null")])
    assert isinstance(device, Skip)
    assert device.reason == "a device"


@posix_only
def test_a_file_that_became_a_fifo_since_it_was_listed_does_not_hang(tree: Path) -> None:
    put(tree, "a.md", "b.md")
    walk = iter(discover([tree], Rules("docs")))
    assert isinstance(next(walk), Candidate)
    (tree / "b.md").unlink()
    os.mkfifo(tree / "b.md")
    [found] = walk
    assert isinstance(found, Skip)
    assert "FIFO" in found.reason


@posix_only
def test_a_file_that_went_away_since_it_was_listed_is_a_skip(tree: Path) -> None:
    put(tree, "a.md", "b.md")
    walk = iter(discover([tree], Rules("docs")))
    next(walk)
    (tree / "b.md").unlink()
    [found] = walk
    assert isinstance(found, Skip)
    assert found.reason == "deleted after it was listed"


@posix_only
def test_links_are_not_followed(tree: Path) -> None:
    put(tree.parent, "outside/secret.md")
    put(tree, "a.md", "docs/b.md")
    (tree / "link.md").symlink_to("a.md")
    (tree / "docs/up").symlink_to("..")
    (tree / "out").symlink_to(tree.parent / "outside")
    (tree / "broken.md").symlink_to("nowhere")
    (tree / "self.md").symlink_to("self.md")
    assert taken(tree) == ["a.md", "docs/b.md"]
    reasons = skipped(tree)
    assert "outside" in reasons["out"]
    assert "broken" in reasons["broken.md"]
    assert "broken" in reasons["self.md"]
    assert "in its own place" in reasons["link.md"]


@posix_only
def test_a_path_that_is_a_link_is_what_it_points_to(tree: Path) -> None:
    put(tree, "docs/a.md")
    (tree.parent / "short").symlink_to(tree / "docs")
    [found] = discover([tree.parent / "short"])
    assert found.path == tree / "docs/a.md"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read everything")
def test_what_cannot_be_read_is_reported(tree: Path) -> None:
    put(tree, "a.md", "b.md", "closed/c.md")
    (tree / "b.md").chmod(0)
    (tree / "closed").chmod(0)
    try:
        assert taken(tree) == ["a.md"]
        assert "Permission denied" in skipped(tree)["b.md"]
        assert "Permission denied" in skipped(tree)["closed"]
    finally:
        (tree / "closed").chmod(0o700)


@posix_only
def test_names_may_hold_newlines_and_bytes_that_are_not_utf8(tree: Path) -> None:
    repository(tree)
    put(tree, "two\nlines.md", "quo'te\".md", ".gitignore")
    raw = os.fsencode(tree) + b"/caf\xe9.md"
    try:
        Path(os.fsdecode(raw)).write_text("# Words\n")
    except OSError:  # a file system that holds UTF-8 names only
        pytest.skip("no such names here")
    found = [f for f in discover([tree]) if isinstance(f, Candidate)]
    assert [f.relative for f in found] == ["caf\udce9.md", "quo'te\".md", "two\nlines.md"]
    assert [f.uri.rpartition("/")[2] for f in found] == ["caf%E9.md", "quo%27te%22.md", "two%0Alines.md"]


def test_a_huge_file_costs_its_head_only(tree: Path) -> None:
    for name in ("dump.md", "dump.jsonl"):
        with (tree / name).open("wb") as file:
            file.truncate(2 * 1024**3)  # a hole: no disk is used
    reasons = skipped(tree)
    assert "over the limit" in reasons["dump.md"]
    assert "not a transcript" in reasons["dump.jsonl"]


def test_binary_and_minified_files_are_told_by_their_head(tree: Path) -> None:
    put(tree, "a.js", text="var a=1;" * 2000)
    (tree / "b.md").write_bytes(b"\x00\x01\x02")
    assert skipped(tree, Rules("all")) == {"a.js": "minified", "b.md": "binary"}


def test_a_tree_deeper_than_the_stack_is_walked(tree: Path) -> None:
    here = Path.cwd()
    put(tree, "a.md")
    try:
        os.chdir(tree)
        for _ in range(1200):
            os.mkdir("d")  # noqa: PTH102 - a path of this length has no other way
            os.chdir("d")
        found = list(discover([tree]))
    finally:
        # From the inside out: pytest removes what is left with a recursion that such a tree breaks.
        while not Path("a.md").exists():
            os.chdir("..")
            os.rmdir("d")  # noqa: PTH106 - as above
        os.chdir(here)
    assert isinstance(found[0], Candidate)
