"""Names say what they stand for, no module name stands twice, and no modules import each other in a circle.

A name is vague if all its words are participles, gerunds, adverbs or pronouns: a module `telling`, a class `Asked`, a
function `found`, a variable `one`. `found_rows` is not vague.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest
from tests.test_architecture import all_imports, files, name_of, nodes

ROOT = Path(__file__).parents[1] / "src" / "palazzo"

PRONOUNS = frozenset(
    """one ones other others each all any some none what whom whose who which that this these those there here then
    now whether where when how elsewhere anew apart beside besides beyond within without ahead behind before after
    alone together again also only mostly hardly nearly likewise otherwise unaided unasked""".split()
)
PARTICIPLES = frozenset(
    """told said asked given found known heard brought kept held left lost meant met made seen sent shown spoken
    stood taken thought understood written begun broken chosen come done drawn fallen forgotten gone grown hidden
    laid led paid risen sought sold spent stated struck taught thrown torn woken won worn wound unkept unmade
    untold unseen unknown""".split()
)
STANDARD_TERMS = frozenset(
    """string setting settings embedding embeddings ranking mapping logging timing tracing binding encoding decoding
    warning listing packing routing hashing parsing padding spacing beginning ending meaning heading nothing
    anything something everything thing reading writing handling testing king ring spring during need seed feed
    speed bed red hundred shared embed shed id uid kind end send read set put let unified hit hits merged deleted
    added changed created updated removed failed passed skipped expected enabled disabled cached seen pending
    missing existing running trailing leading remaining""".split()
)
LIMITS = {"variables": 5.0, "functions": 1.0, "classes": 1.0, "modules": 2.0}
"""The largest share of vague names, in percent."""
SHARED_STEMS = frozenset(["contract", "run", "view", "tools", "__init__", "__main__"])
"""Module names that every feature may have."""
HOST_PARTS = frozenset(["host", "transcript", "hooks", "paths", "restore", "wiring", "install", "server"])
"""Module names that the folder of every host may have."""
LAUNCHER = ROOT / "cli" / "mempalace.py"
"""The file that launchers of an earlier Palazzo name."""


def is_vague_word(word: str) -> bool:
    """Whether a word by itself names nothing."""
    if word in PRONOUNS or word in PARTICIPLES:
        return True
    if word in STANDARD_TERMS or len(word) < 5:
        return False
    return re.fullmatch(r"[a-z]+(?:ing|ed|ly)", word) is not None


@cache
def is_vague(name: str) -> bool:
    """Whether all words of a name are vague."""
    words = [part for part in re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip("_")).lower().split("_") if part]
    return bool(words) and all(map(is_vague_word, words))


def names_by_kind() -> dict[str, list[str]]:
    """Return every name that the package defines, by kind; a variable counts once for each assignment."""
    names: dict[str, list[str]] = defaultdict(list)
    for path in files():
        if path.stem not in ("__init__", "__main__"):
            names["modules"].append(path.stem)
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                names["classes"].append(node.name)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if not node.name.startswith("__"):
                    names["functions"].append(node.name)
                parameters = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                names["variables"] += [item.arg for item in parameters if item.arg not in ("self", "cls")]
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names["variables"].append(node.id)
    return names


def test_names_say_what_they_stand_for() -> None:
    shares = {}
    for kind, names in names_by_kind().items():
        vague = Counter(filter(is_vague, names))
        shares[kind] = (100 * vague.total() / len(names), vague.most_common(5))
    assert {kind: share for kind, share in shares.items() if share[0] > LIMITS[kind]} == {}


@pytest.mark.parametrize(
    ("name", "vague"),
    [("told", True), ("_was_told", False), ("found_rows", False), ("Asked", True), ("embedding", False)],
)
def test_a_name_is_vague_if_none_of_its_words_names_anything(name: str, vague: bool) -> None:
    assert is_vague(name) == vague


def is_shared_name(path: Path) -> bool:
    """Whether other modules may have this module's name."""
    is_in_host = path.parents[1] == ROOT / "hosts"
    return path.stem in SHARED_STEMS or (is_in_host and path.stem in HOST_PARTS)


def test_a_module_name_stands_once() -> None:
    stems = Counter(path.stem for path in files() if not is_shared_name(path) and path != LAUNCHER)
    assert [stem for stem, count in stems.items() if count > 1] == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions count, and those for the type checker do not."""
    modules = {name_of(path) for path in files()}
    annotations = {(name_of(path), line) for path in files() for line in type_checking_lines(path)}
    imported: dict[str, set[str]] = {module: set() for module in modules}
    for found in all_imports():
        target = found.target if found.target in modules else found.target.rpartition(".")[0]
        if target in modules and target != found.module and (found.module, found.line) not in annotations:
            imported[found.module].add(target)
    assert modules_in_circles(imported) == []


def type_checking_lines(path: Path) -> set[int]:
    """Return the lines of a file that only a type checker reads."""
    return {
        line
        for node in nodes(path)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def modules_in_circles(imported: dict[str, set[str]]) -> list[str]:
    """Return the modules that import themselves by way of others, by taking leaves and roots away."""
    left = dict(imported)
    while True:
        targets = set().union(*left.values()) if left else set()
        inner = {
            module: found & left.keys() for module, found in left.items() if found & left.keys() and module in targets
        }
        if inner.keys() == left.keys():
            return sorted(left)
        left = inner


def test_a_circle_is_found() -> None:
    assert modules_in_circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == ["b", "c"]
