"""Measure the secret filter on short texts as sessions hold them: what is found, what is marked by mistake, how fast.

    python benchmarks/secret_forms.py [--labels forms|fresh] [--before DIR] [--missed] [--gitleaks TOML]
                                      [--detect-secrets DIR] [--trufflehog DIR] [--json]

The labels stand in benchmarks/secrets/forms.yaml. They were committed before the rules, and their author had not read
the rules. The labels of a second set by another author, benchmarks/secrets/fresh.yaml, were committed before each was
measured; the rules are tuned on all of it. A hash of the id holds one half of the first set out: `--missed` lists
errors of the other half only. An entry counts as found if every occurrence of each of its secrets is redacted, and as
false if anything of a look-alike is.

`--before DIR` measures a checkout of another commit too, in processes of its own. Speeds are the best of rounds that
alternate between both, in processor time. `--gitleaks` reads gitleaks' rules (config/gitleaks.toml), `--trufflehog` the
expressions of a TruffleHog checkout (pkg/detectors), `--detect-secrets` a directory of `pip install --target DIR
detect-secrets`. Their rules are read from there and run by Python's `re`; no word of them is kept here. What Python
cannot compile is counted as skipped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.measuring import Row, report

ROOT = Path(__file__).resolve().parents[1]
LABELS = ROOT / "benchmarks/secrets"
LABEL_SETS = ("forms", "fresh")
HALVES = (("tuned on", False), ("held out", True))
ROUNDS = 3
Spans = Sequence[tuple[int, int]]
Finder = Callable[[str], Spans]


@dataclass(frozen=True)
class Form:
    """One labelled text, and what of it must not be kept."""

    id: str
    kind: str
    family: str
    text: str
    secrets: tuple[str, ...]

    @property
    def is_held_out(self) -> bool:
        """Whether it is kept from tuning."""
        return hashlib.blake2b(self.id.encode(), digest_size=1).digest()[0] % 2 == 1

    def is_right(self, spans: Spans) -> bool:
        """Whether the spans cover every secret, or nothing of a look-alike."""
        if self.kind == "none":
            return not spans
        return all(_covers(spans, *place) for secret in self.secrets for place in _places(self.text, secret))


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="a checkout of the commit to compare with")
    parser.add_argument("--labels", choices=LABEL_SETS, default="forms", help="the set of labelled texts")
    parser.add_argument("--missed", action="store_true", help="list errors on the half that rules are tuned on")
    parser.add_argument("--gitleaks", type=Path, help="gitleaks' config/gitleaks.toml")
    parser.add_argument("--detect-secrets", type=Path, help="where detect-secrets is installed")
    parser.add_argument("--trufflehog", type=Path, help="a checkout of TruffleHog")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--child", nargs=2, metavar=("CODE", "TEXTS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(measure(*map(Path, arguments.child))))
        return
    forms = list(read_forms(arguments.labels))
    codes = {"before": arguments.before, "now": ROOT} if arguments.before else {"now": ROOT}
    measured = measure_codes(codes, forms)
    rows = [row for name in codes for row in quality(forms, _spans_of(measured[name]), name)]
    report("Labelled texts, in percent", rows, arguments.json)
    report("Speed of redaction, in MB/s", list(speeds(measured)), arguments.json)
    if arguments.missed:
        report("Errors on the half that rules are tuned on", list(errors(forms, measured["now"])), arguments.json)
    peers = list(peer_rows(arguments, forms))
    if peers:
        report("Other rule sets on the same texts, in percent", peers, arguments.json)


def read_forms(label_set: str) -> Iterator[Form]:
    """Yield the labelled texts of one of the sets."""
    for entry in yaml.safe_load((LABELS / f"{label_set}.yaml").read_text("utf-8")):
        secrets = tuple(secret.replace("~~", "") for secret in entry["secrets"])
        yield Form(entry["id"], entry["kind"], entry["family"], entry["text"].replace("~~", ""), secrets)


def _places(text: str, secret: str) -> Iterator[tuple[int, int]]:
    at = text.find(secret)
    while at >= 0:
        yield at, at + len(secret)
        at = text.find(secret, at + 1)


def _covers(spans: Spans, start: int, end: int) -> bool:
    for begin, stop in sorted(spans):
        if begin <= start < stop:
            start = stop
    return start >= end


def quality(forms: Sequence[Form], spans: Callable[[Form], Spans], name: str) -> Iterator[Row]:
    """Yield a row for each kind of label, with the figure on either half."""
    for kind in ("structured", "generic", "none"):
        row: Row = {"rules": name, "what": f"{kind} {'marked' if kind == 'none' else 'found'}"}
        for half, held_out in HALVES:
            chosen = [form for form in forms if form.kind == kind and form.is_held_out is held_out]
            right = sum(form.is_right(spans(form)) for form in chosen)
            count = len(chosen) - right if kind == "none" else right
            row |= {half: round(100 * count / len(chosen), 1), f"of, {half}": len(chosen)}
        yield row


def errors(forms: Sequence[Form], measured: dict[str, Any]) -> Iterator[Row]:
    """Yield what was missed and what was falsely marked, of the half that is not held out."""
    spans_of = _spans_of(measured)
    for form in forms:
        spans = spans_of(form)
        if form.is_held_out or form.is_right(spans):
            continue
        marked = [form.text[start:end] for start, end in spans]
        row: Row = {"kind": form.kind, "family": form.family, "id": form.id}
        yield row | {"text": repr(form.text)[:400], "secrets": repr(form.secrets)[:200], "marked": repr(marked)[:200]}


def _spans_of(measured: dict[str, Any]) -> Callable[[Form], Spans]:
    return lambda form: [(start, end) for start, end in measured["spans"][form.id]]


# --- this code and the code before, each in processes of its own -------------------------------------------


def measure_codes(codes: dict[str, Path], forms: Sequence[Form]) -> dict[str, dict[str, Any]]:
    """Return what each checkout finds, and the fastest of its rounds for each kind of text."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "texts.json"
        path.write_text(json.dumps({"forms": {form.id: form.text for form in forms}, "speed": speed_texts()}), "utf-8")
        measured: dict[str, dict[str, Any]] = {}
        for _ in range(ROUNDS):
            for name, code in codes.items():
                command = [sys.executable, __file__, "--child", str(code), str(path)]
                answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
                first = measured.setdefault(name, answer)
                for kind, seconds in answer["seconds"].items():
                    first["seconds"][kind] = min(seconds, first["seconds"][kind])
    return measured


def speed_texts() -> dict[str, list[str]]:
    """Return the texts of the guard's own table of speeds."""
    from benchmarks.guard import kinds

    from palazzo.bench.ordinary_lines import excerpts

    texts = kinds(list(excerpts()))
    return {kind: [text.encode("utf-8", "replace").decode() for text in pieces] for kind, pieces in texts.items()}


def measure(code: Path, texts: Path) -> dict[str, Any]:
    """Return the spans that the code in a checkout redacts, and how long it takes for each kind of text."""
    sys.path.insert(0, str(code / "src"))
    from palazzo.security.redactor import redact

    given = json.loads(texts.read_text("utf-8"))
    seconds = {}
    for kind, pieces in given["speed"].items():
        begun = time.process_time()
        for text in pieces:
            redact(text, b"benchmark")
        seconds[kind] = time.process_time() - begun
    spans = {
        name: [(edit.start, edit.end) for edit in redact(text, b"benchmark").edits]
        for name, text in given["forms"].items()
    }
    sizes = {kind: sum(len(text.encode()) for text in pieces) / 1e6 for kind, pieces in given["speed"].items()}
    return {"spans": spans, "seconds": seconds, "MB": sizes}


def speeds(measured: dict[str, dict[str, Any]]) -> Iterator[Row]:
    """Yield a row for each kind of text."""
    for kind, size in next(iter(measured.values()))["MB"].items():
        row: Row = {"text": kind, "MB": round(size, 2)}
        yield row | {name: round(size / answer["seconds"][kind], 1) for name, answer in measured.items()}


# --- other rule sets ---------------------------------------------------------------------------------------


def peer_rows(arguments: argparse.Namespace, forms: Sequence[Form]) -> Iterator[Row]:
    """Yield the figures of each rule set that is at hand."""
    if arguments.gitleaks:
        yield from _peer("gitleaks", forms, gitleaks_finder(arguments.gitleaks))
    if arguments.trufflehog:
        yield from _peer("TruffleHog", forms, trufflehog_finder(arguments.trufflehog))
    if arguments.detect_secrets:
        yield from _peer("detect-secrets", forms, detect_secrets_finder(arguments.detect_secrets))


def _peer(name: str, forms: Sequence[Form], finder: Finder) -> Iterator[Row]:
    begun = time.process_time()
    spans = {form.id: finder(form.text) for form in forms}
    seconds = time.process_time() - begun
    size = sum(len(form.text.encode()) for form in forms) / 1e6
    rows = list(quality(forms, lambda form: spans[form.id], name))
    yield from (row | {"MB/s": round(size / seconds, 3)} for row in rows)


@dataclass(frozen=True)
class PeerRule:
    """A rule of another project: the words that it is tried at, its expression, the disorder that it asks for."""

    keywords: tuple[str, ...]
    pattern: re.Pattern[str]
    group: int = 0
    entropy: float = 0.0
    allowed: tuple[re.Pattern[str], ...] = ()
    stopwords: tuple[str, ...] = ()

    def find(self, text: str, lowered: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of what it takes for a secret."""
        if self.keywords and not any(word in lowered for word in self.keywords):
            return
        for match in self.pattern.finditer(text):
            group = self.group or next((n for n in range(1, self.pattern.groups + 1) if match[n]), 0)
            secret = match[group]
            if not secret or _entropy(secret) <= self.entropy or any(word in secret.lower() for word in self.stopwords):
                continue
            if not any(allowed.search(secret) for allowed in self.allowed):
                yield match.span(group)


def gitleaks_finder(path: Path) -> Finder:
    """Return a finder with gitleaks' rules. Allow-lists of paths say nothing here."""
    config = tomllib.loads(path.read_text("utf-8"))
    shared = list(_compiled(config.get("allowlist", {}).get("regexes", ())))
    rules = []
    skipped = 0
    for rule in config["rules"]:
        lists = [*rule.get("allowlists", ()), rule.get("allowlist", {})]
        allowed = [*shared, *_compiled(one for each in lists for one in each.get("regexes", ()))]
        stopwords = tuple(word.lower() for each in lists for word in each.get("stopwords", ()))
        patterns = list(_compiled([rule["regex"]])) if "regex" in rule else []
        skipped += "regex" in rule and not patterns
        for pattern in patterns:
            keywords = tuple(word.lower() for word in rule.get("keywords", ()))
            entropy = float(rule.get("entropy", 0))
            rules.append(PeerRule(keywords, pattern, rule.get("secretGroup", 0), entropy, tuple(allowed), stopwords))
    print(f"gitleaks: {len(rules)} rules, {skipped} skipped", file=sys.stderr)
    return _finder(rules)


_GO_PATTERN = re.compile(r"regexp\.MustCompile\(((?:[^`\"()]*(?:`[^`]*`|\"(?:[^\"\\]|\\.)*\"|\([^()]*\)))+[^`\"()]*)\)")
_GO_PIECE = re.compile(r"PrefixRegex\(\[\]string\{([^}]*)\}\)|`([^`]*)`|\"((?:[^\"\\]|\\.)*)\"")
_GO_KEYWORDS = re.compile(r"Keywords\(\) \[\]string \{\s*return \[\]string\{([^}]*)\}", re.DOTALL)


def trufflehog_finder(directory: Path) -> Finder:
    """Return a finder with the expressions of TruffleHog's detectors, without asking any service."""
    rules = []
    skipped = 0
    for path in sorted((directory / "pkg/detectors").rglob("*.go")):
        if path.name.endswith("_test.go"):
            continue
        source = path.read_text("utf-8", "replace")
        found = _GO_KEYWORDS.search(source)
        if not found:
            continue
        keywords = tuple(word.lower() for word in re.findall(r'"([^"]+)"', found[1]))
        for call in _GO_PATTERN.finditer(source):
            patterns = list(_compiled([_joined_go(call[1])]))
            skipped += not patterns
            rules += [PeerRule(keywords, pattern) for pattern in patterns]
    print(f"TruffleHog: {len(rules)} expressions, {skipped} skipped", file=sys.stderr)
    return _finder(rules)


def _joined_go(expression: str) -> str:
    """An expression of Go as one of Python's; `PrefixRegex` as TruffleHog defines it: a word, then up to 40 others."""
    pieces = []
    for piece in _GO_PIECE.finditer(expression):
        if piece[1] is not None:
            words = "|".join(map(re.escape, re.findall(r'"([^"]+)"', piece[1])))
            pieces.append(rf"(?i:{words})(?:.|[\n\r]){{0,40}}?")
        else:
            pieces.append(piece[2] if piece[2] is not None else piece[3].encode().decode("unicode_escape"))
    return "".join(pieces)


def detect_secrets_finder(directory: Path) -> Finder:
    """Return detect-secrets' default plugins as a finder."""
    sys.path.insert(0, str(directory))
    from detect_secrets.core.scan import scan_line  # type: ignore[import-not-found]
    from detect_secrets.settings import default_settings  # type: ignore[import-not-found]

    def spans(text: str) -> Spans:
        found, at = [], 0
        with default_settings():
            for line in text.split("\n"):
                for secret in scan_line(line):
                    start = line.find(secret.secret_value or "\0")
                    found += [(at + start, at + start + len(secret.secret_value))] if start >= 0 else []
                at += len(line) + 1
        return found

    return spans


def _finder(rules: Sequence[PeerRule]) -> Finder:
    def spans(text: str) -> Spans:
        lowered = text.lower()
        return [span for rule in rules for span in rule.find(text, lowered)]

    return spans


def _compiled(patterns: Iterable[str]) -> Iterator[re.Pattern[str]]:
    """Expressions of Go's RE2 as Python takes them: flags in the middle become flags of a group."""
    for pattern in patterns:
        plain = pattern.replace(r"\z", r"\Z").replace("[[:alnum:]]", "[0-9A-Za-z]").replace("[[:xdigit:]]", "[0-9a-f]")
        while moved := re.search(r"\(\?([imsU-]+)\)", plain[1:]):
            at = moved.start() + 1
            plain = plain[:at] + f"(?{moved[1]}:" + plain[at + len(moved[0]) :]
            plain = _closed(plain, at)
        try:
            yield re.compile(plain)
        except re.error:
            continue


def _closed(pattern: str, at: int) -> str:
    """Close the group that begins at `at` where the group around it ends."""
    depth, in_set, n = 0, False, at
    while n < len(pattern):
        letter = pattern[n]
        if letter == "\\":
            n += 1
        elif in_set:
            in_set = letter != "]"
        elif letter == "[":
            in_set = True
        elif letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
            if depth == 0:
                return pattern[:n] + ")" + pattern[n:]
        n += 1
    return pattern + ")"


def _entropy(text: str) -> float:
    """Shannon's, in bits a character, as gitleaks computes it."""
    from math import log2

    return -sum(text.count(letter) / len(text) * log2(text.count(letter) / len(text)) for letter in set(text))


if __name__ == "__main__":
    main()
