"""Paths of the project: inside it, not a dependency, and not usually ignored by a repository. Pure.

No file is accessed, because the archive is read long after the session. If the record does not state the directory of a
session, an absolute path is judged by its form alone.
"""

from __future__ import annotations

import re

from palazzo.frozen_class import frozen
from palazzo.text.lazy_patterns import make_regex

LONGEST_PATH = 4_096
UNKNOWN_TEXT = "\ue002"
"""A placeholder for characters that are unknown before a command runs."""
LOCAL_TEXT = "\ue003"
"""A placeholder for a local command's output: harmless to show, but not a path or an address."""
OWN_FILE = "\ue000"
"""A placeholder for the name of a file that the project tracks, as `git ls-files` prints it."""

_DEPENDENCIES = frozenset(
    [
        "node_modules",
        "bower_components",
        "jspm_packages",
        "site-packages",
        "dist-packages",
        "vendor",
        "vendored",
        "third_party",
        "thirdparty",
        "third-party",
        "3rdparty",
        "3rd_party",
        "externals",
        ".venv",
        "venv",
        ".virtualenv",
        ".tox",
        ".nox",
        ".pnpm-store",
        ".pnpm",
        ".yarn",
        "pods",
        "carthage",
        "elm-stuff",
        "_deps",
        ".terraform",
        ".eggs",
        "__pypackages__",
        ".bundle",
        ".cargo",
        ".rustup",
        ".gradle",
        ".m2",
        ".ivy2",
        ".nuget",
        ".gem",
        ".npm",
        ".stack-work",
        ".dub",
        "deps.edn",
        ".sdkman",
        ".nvm",
        ".pyenv",
        ".rbenv",
        ".conda",
        "miniconda3",
        "anaconda3",
        "gopath",
        "jniLibs",
    ]
)
"""Directories of installed or vendored foreign code, at any depth."""
_IGNORED_DIRECTORIES = frozenset(
    [
        "log",
        "logs",
        "tmp",
        "temp",
        "upload",
        "uploads",
        "media",
        "download",
        "downloads",
        "dataset",
        "datasets",
        "storage",
        "backup",
        "backups",
        "dump",
        "dumps",
        "cache",
        ".cache",
        "scratch",
        ".scratch",
        "inbox",
        "mail",
        "maildir",
        "secrets",
        "crawl",
        "scraped",
        "mirror",
        "mirrors",
        "snapshots_remote",
        "deps",
        "env",
        "dist",
        "out",
        "public",
        ".next",
        ".nuxt",
        ".output",
        ".svelte-kit",
        ".parcel-cache",
        ".turbo",
        ".vercel",
        ".netlify",
        ".expo",
        ".serverless",
        ".aws-sam",
        ".direnv",
        ".vagrant",
        ".docker",
        "volumes",
        "pgdata",
        ".data",
        "wwwroot",
        "attachments",
        "captures",
        "recordings",
        "received",
        "incoming",
    ]
)
"""Directories at the top of a project, or of a package in it, that repositories ignore or that contain foreign code."""
_SOURCE_DIRECTORIES = frozenset(
    {"docs", "src", "lib", "app", "apps", "packages", "tests", "test", "spec", "internal", "cmd"}
)
"""Directories in which such a name is more likely part of the code: `src/server/logs/rotate.c`."""
_ALWAYS_IGNORED = frozenset(
    {"uploads", "downloads", "datasets", ".cache", ".next", ".nuxt", ".parcel-cache", "backups"}
)
_IGNORED_FILE = make_regex(
    r"\.env(?:\.(?!example$|sample$|template$|dist$|defaults?$|test$|schema$)[\w.-]+)?|.*\.(?:log(?:\.\d+)?|out|err|pid|dump"
    r"|bak|orig|rej|mbox|eml|msg|pcap|har|download|crdownload|part|zip|t?gz|tar|tbz2?|bz2|xz|t?zst|7z|rar|jar|war|whl|gem"
    r"|crate|nupkg|deb|rpm|apk|dmg|iso|exe|dll|sqlite3?|db|rdb|parquet|pdf|docx?|pptx?|xlsx?|min\.js|min\.css)",
    re.IGNORECASE,
)
"""Files that a repository usually ignores, or that others packed or sent."""
_GIT_STATE = make_regex(r"(?:^|/)\.(?:git|hg|svn|jj)(?:/(?!(?:config|HEAD|hooks|hgrc|description)(?:$|/))|$)")
_PACKAGES = make_regex(
    r"(?:^|/)(?:go/pkg/mod|\.cargo/registry|\.m2/repository|\.gradle/caches|lib/(?:python|ruby|node)[\d.]*|gems/[\w.-]+-\d)"
    r"(?:/|$)"
)
_LOOKS_OUTSIDE = make_regex(
    r"/(?:etc|var|usr|opt|tmp|private|proc|sys|dev|mnt|media|run|root/\.|bin|sbin|lib|Library|Applications|Volumes)"
    r"(?:/|$)|/(?:home|Users)/[^/]+/(?:\.|Downloads|Desktop|Documents|Library|Pictures|Mail|Maildir)"
    r"|[A-Za-z]:/(?:Windows|Program|Temp|Users/[^/]+/(?:AppData|Downloads|Desktop|Documents))",
    re.IGNORECASE,
)
"""Absolute paths outside any project, for a session whose directory is unknown."""
_DRIVE = make_regex(r"[A-Za-z]:[\\/]")
_FIRST_COMPONENT_PATTERN = make_regex(r"(?:\./)?(?:\*\*|\*/)")


@frozen
class Project:
    """The directory of a session ('' if the record names none), and the directory of a call, if known.

    The session began in `root`; the call runs in `directory`.
    """

    root: str = ""
    directory: str = ""

    @property
    def home(self) -> str:
        """Return the home directory of the session's user, if the root contains it."""
        match = re.match(r"(?:/(?:home|Users)/[^/]+|/root|[A-Za-z]:/Users/[^/]+)(?=/|$)", self.root)
        return match[0] if match else ""

    def resolve(self, path: str, directory: str | None = None) -> str:
        """Return a path in a canonical form, below the root if that is known; '' if the path is unknown."""
        path = _unix(path)[:LONGEST_PATH]
        if path.startswith("~"):
            if not self.home or not (path == "~" or path.startswith("~/")):
                return ""
            path = self.home + path[1:]
        if not _is_absolute(path):
            base = self.directory if directory is None else directory
            path = f"{_unix(base) or '.'}/{path}"
        return _normal(path)

    def is_inside(self, path: str) -> bool:
        """Whether a path in plain form lies in the project."""
        if not path or path == ".." or path.startswith("../"):
            return False
        if not _is_absolute(path):
            return True
        root = _normal(_unix(self.root)) if self.root else ""
        if root in ("/", self.home):
            root = ""
        if root:
            return path == root or path.startswith(f"{root}/")
        return not _LOOKS_OUTSIDE.match(path)

    def relative(self, path: str) -> str:
        """Return a path in plain form relative to the root, if it is below the root."""
        root = _normal(_unix(self.root)) if self.root else ""
        return path[len(root) + 1 :] if root and path.startswith(f"{root}/") else "" if path == root else path

    def is_own(self, path: str) -> bool:
        """Whether a path in plain form is the project's own file or directory."""
        if not self.is_inside(path):
            return False
        relative = self.relative(path)
        return not is_dependency(relative) and not _is_ignored(relative)


def is_dependency(path: str) -> bool:
    """Whether a path leads into installed or bundled foreign code."""
    return any(part.lower() in _DEPENDENCIES for part in path.split("/")) or bool(_PACKAGES.search(path))


def reaches_everything(pattern: str) -> bool:
    """Whether a pattern matches in every directory of the project, including dependencies."""
    return _FIRST_COMPONENT_PATTERN.match(pattern) is not None


def _is_ignored(path: str) -> bool:
    parts = path.lower().split("/")
    if _GIT_STATE.search(path) or any(part in _ALWAYS_IGNORED for part in parts):
        return True
    for n, part in enumerate(parts[:4]):
        if part in _SOURCE_DIRECTORIES and part not in ("apps", "packages"):
            break
        if part in _IGNORED_DIRECTORIES and (
            n == 0 or parts[0] in ("apps", "packages", "services", "web", "frontend", "backend")
        ):
            return True
    return _IGNORED_FILE.fullmatch(parts[-1]) is not None


def _unix(path: str) -> str:
    return path.replace("\\", "/") if _DRIVE.match(path) or path.startswith((".\\", "..\\")) else path


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or _DRIVE.match(path) is not None


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".." or not path.startswith("/"):
            parts.append(part)
    return ("/" if path.startswith("/") else "") + "/".join(parts) or "."
