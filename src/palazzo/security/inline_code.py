"""Whether a program given on the command line reads only the project's own files. Pure.

Each language has a list of harmless names; code with any other name counts as foreign. Nothing is run.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable

from palazzo.security.loopback import is_own_server, names_foreign_address
from palazzo.text.lazy_patterns import make_regex

LONGEST_PROGRAM = 16_384
IsOwn = Callable[[str], bool]

_PYTHON_MODULES = frozenset(
    """
    json re sys math datetime collections itertools functools textwrap string pathlib tomllib csv statistics random
    hashlib base64 binascii struct decimal fractions pprint time calendar typing dataclasses enum uuid operator
    bisect heapq difflib ast tokenize unicodedata copy types abc configparser yaml toml platform keyword colorsys
    zlib fnmatch glob os io shlex timeit contextlib numbers argparse xml html secrets codecs locale sysconfig
    warnings traceback inspect dis token errno
    """.split()
)
_PYTHON_DEEP = frozenset({"urllib.parse", "os.path", "xml.etree", "xml.etree.ElementTree", "collections.abc"})
_PYTHON_CALLS_DENIED = frozenset(
    """
    exec eval compile __import__ globals locals vars getattr setattr delattr breakpoint input system popen execv
    execve execvp spawn spawnl spawnv fork import_module run_path run_module getline get_data environ getenv
    startfile posix_spawn expanduser home url2pathname modules meta_path loader unsafe_load full_load Loader
    UnsafeLoader scandir walk listdir putenv help license credits chdir symlink link sendfile getfile getsource
    getsourcefile fdopen openat readlink chroot getsourcelines
    """.split()
)
_OPENERS = frozenset({"open", "Path", "PurePath", "glob", "iglob", "rglob", "joinpath", "with_name", "FileInput"})
_JS_WORDS = frozenset(
    """
    console JSON Object Array Math String Number Boolean Date RegExp Map Set Symbol BigInt parseInt parseFloat isNaN
    NaN Infinity undefined null true false var let const function return if else for of in while do switch case
    break continue new typeof instanceof try catch finally throw Error TypeError void delete async await this
    encodeURIComponent decodeURIComponent encodeURI decodeURI URL URLSearchParams Intl structuredClone atob btoa
    Promise Buffer default class extends yield require process
    """.split()
)
_JS_MODULES = frozenset(
    {
        "fs",
        "path",
        "os",
        "util",
        "url",
        "assert",
        "crypto",
        "fs/promises",
        "node:fs",
        "node:path",
        "node:os",
        "node:util",
    }
)
_JS_TOKEN = make_regex(
    r"\s+|//[^\n]*|/\*.*?\*/|'(?P<one>(?:[^'\\\n]|\\.)*)'|\"(?P<two>(?:[^\"\\\n]|\\.)*)\"|`(?P<three>[^`\\$]*)`"
    r"|(?P<word>[A-Za-z_$][\w$]*)|(?P<number>\d[\w.]*)|(?P<regex>(?<=[(=,:!&|?])/(?![*/])(?:[^/\\\n]|\\.)+/\w*)|(?P<sign>.)",
    re.DOTALL,
)
_JS_MEMBERS_DENIED = frozenset(
    [
        "constructor",
        "prototype",
        "__proto__",
        "mainModule",
        "binding",
        "env",
        "exec",
        "execSync",
        "spawn",
        "spawnSync",
        "fork",
        "load",
        "import",
        "dlopen",
        "stdin",
        "openStdin",
        "homedir",
    ]
)
_READS = frozenset(
    {
        "readFileSync",
        "readFile",
        "createReadStream",
        "readdirSync",
        "readdir",
        "existsSync",
        "statSync",
        "require",
        "fetch",
    }
)
_AWK_DENIED = make_regex(
    r"\bsystem\s*\(|\bgetline\b|/inet\d?/|\|\s*[\"&]|\"\s*\||@(?:load|include)|\bENVIRON\b|\bARGV\b"
)
_SED_DENIED = make_regex(
    r"(?:^|[;{}\n\d$/!])\s*[erRwW]\s|(?:^|[;{}\n\d$/])\s*e\s*(?:$|[;}\n])|[/|,#@!:]\w*e\w*\s*(?:$|[;}\n])"
)
_SED_SUBSTITUTE = make_regex(
    r"s(?P<sign>[^\w\s\\])(?:\\.|(?!(?P=sign)).){0,2000}(?P=sign)(?:\\.|(?!(?P=sign)).){0,2000}(?P=sign)(?P<flags>[\w]*)"
)
_PERL_WORDS = frozenset(
    """
    print printf say if unless else elsif while until for foreach my our local and or not eq ne lt gt le ge cmp x
    split join map grep sort reverse keys values each push pop shift unshift splice length substr index rindex uc lc
    ucfirst lcfirst sprintf chomp chop puts pp p defined exists delete scalar last next redo eof BEGIN END ARGV
    STDIN STDERR STDOUT int abs hex oct ord chr pos tr y undef exit die warn wantarray sub return qw q qq strict
    warnings use utf8 g i m s e0 n p a l ne cr gr gi
    """.split()
)
_PERL_CODE = make_regex(
    r"(?P<quoted>'[^'\n]*'|\"(?:[^\"\\$@\n]|\\.|[$@]\w)*\")|(?P<pattern>(?<![\w)])m?/(?:[^/\\\n]|\\.)*/\w*)|(?P<word>[A-Za-z_]\w*)|(?P<sign>.)",
    re.DOTALL,
)
_POWERSHELL_OWN = frozenset(
    """
    get-content select-string get-childitem get-item test-path measure-object select-object where-object
    foreach-object sort-object group-object format-table format-list out-string write-output write-host
    convertfrom-json convertto-json get-location set-location invoke-scriptanalyzer invoke-pester get-command
    get-date get-process get-random split-path join-path resolve-path compare-object get-filehash out-null new-item
    remove-item copy-item set-content add-content out-file tee-object dotnet git import-module gc ls dir cat type
    select where sort measure ft fl echo cd pwd sls gci get-variable get-help get-psdrive format-hex get-unique
    """.split()
)
_POWERSHELL_WEB = frozenset({"invoke-restmethod", "invoke-webrequest", "irm", "iwr", "curl", "wget"})


def is_own_python(code: str, is_own: IsOwn) -> bool:
    """Whether Python code only computes, or reads only the project's own files named in it."""
    if len(code) > LONGEST_PROGRAM:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the code is parsed, not run
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    nodes = list(ast.walk(tree))
    asks = any(isinstance(node, ast.Import | ast.ImportFrom) and _NETWORK & set(_modules_of(node)) for node in nodes)
    return all(_is_own_node(node, is_own) or (asks and _is_network_import(node)) for node in nodes) and (
        not asks or all(_asks_own_server(node) for node in nodes)
    )


_NETWORK = frozenset({"urllib.request", "requests", "httpx"})
_REQUESTS = frozenset(
    [
        "get",
        "post",
        "put",
        "delete",
        "head",
        "patch",
        "options",
        "request",
        "urlopen",
        "urlretrieve",
        "Request",
        "Client",
        "Session",
        "stream",
        "send",
    ]
)


def _modules_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [name.name for name in node.names] if isinstance(node, ast.Import) else [node.module or ""]


def _is_network_import(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom) and set(_modules_of(node)) <= _NETWORK | _PYTHON_MODULES | {
        "urllib.parse"
    }


def _asks_own_server(node: ast.AST) -> bool:
    """Whether a call that may contact a server contacts one on this machine."""
    if not isinstance(node, ast.Call):
        return True
    name = (
        node.func.attr
        if isinstance(node.func, ast.Attribute)
        else node.func.id
        if isinstance(node.func, ast.Name)
        else ""
    )
    if name not in _REQUESTS:
        return True
    first = node.args[0] if node.args else None
    return (
        isinstance(first, ast.Constant)
        and isinstance(first.value, str)
        and is_own_server(first.value)
        and "://" in first.value
    )


def _is_own_node(node: ast.AST, is_own: IsOwn) -> bool:
    match node:
        case ast.Import(names=names):
            return all(_is_known_module(name.name) for name in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            is_known = not level and module is not None and _is_known_module(module)
            return is_known and all(name.name not in _PYTHON_CALLS_DENIED for name in names)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name not in _PYTHON_CALLS_DENIED and (
                not name.startswith("__") or name in ("__name__", "__version__", "__file__")
            )
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=arguments) if name in _OPENERS:
            return all(
                isinstance(argument, ast.Constant) and (not isinstance(argument.value, str) or is_own(argument.value))
                for argument in arguments[:1]
            )
        case ast.Call(func=ast.Attribute(attr=name), args=arguments) if (
            name in ("read_text", "read_bytes") and arguments
        ):
            return all(isinstance(argument, ast.Constant) for argument in arguments)
        case ast.Constant(value=str(text)) if re.match(r"(?:~|/[a-zA-Z]|\.\./)\S*$", text):
            return is_own(text)
        case _:
            return True


def _is_known_module(name: str) -> bool:
    return (
        name in _PYTHON_DEEP
        or name in _PYTHON_MODULES
        or (name.partition(".")[0] == "xml" and name.startswith("xml.etree"))
    )


def is_own_javascript(code: str, is_own: IsOwn) -> bool:
    """Whether JavaScript code only computes, or reads only the project's own files named in it."""
    if len(code) > LONGEST_PROGRAM:
        return False
    allowed_names = set(_JS_WORDS) | set(
        re.findall(
            r"(?:\b(?:const|let|var|function|catch\s*\()\s+|[(,{\[]\s*)([A-Za-z_$][\w$]*)", code[:LONGEST_PROGRAM]
        )
    )
    allowed_names |= set(re.findall(r"([A-Za-z_$][\w$]*)\s*=>", code)) | set(
        re.findall(r"\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)", code)
    )
    allowed_names |= {"fetch"}
    allowed_names -= {
        "eval",
        "Function",
        "import",
        "XMLHttpRequest",
        "WebSocket",
        "globalThis",
        "global",
        "Deno",
        "Bun",
        "module",
        "EventSource",
    }
    allowed_names -= set(_JS_MEMBERS_DENIED)
    previous, reader = "", ""
    for token in _JS_TOKEN.finditer(code):
        text = (
            token["one"] if token["one"] is not None else token["two"] if token["two"] is not None else token["three"]
        )
        if text is not None:
            if reader == "fetch" and not (is_own_server(text) and "://" in text):
                return False
            if (
                reader
                and reader != "fetch"
                and not (
                    text in _JS_MODULES if reader == "require" and not text.startswith((".", "/")) else is_own(text)
                )
            ):
                return False
            reader, previous = "", "text"
        elif word := token["word"]:
            if reader or word in _JS_MEMBERS_DENIED or (previous != "." and word not in allowed_names):
                return False
            previous = word
        elif token["sign"] or token["number"]:
            sign = token["sign"] or token["number"]
            if sign == "`" or (previous in _READS and sign != "(") or (reader and sign not in "("):
                return False
            reader = previous if previous in _READS and sign == "(" else ""
            previous = sign
    return not reader


def is_own_awk(code: str) -> bool:
    """Whether an awk program reads only its input."""
    return len(code) <= LONGEST_PROGRAM and not _AWK_DENIED.search(code)


def is_own_sed(code: str) -> bool:
    """Whether a sed script reads only its input, and runs no program."""
    if len(code) > LONGEST_PROGRAM:
        return False
    flags = [substitution["flags"] for substitution in _SED_SUBSTITUTE.finditer(code)]
    rest = _SED_SUBSTITUTE.sub("", code)
    rest = re.sub(r"/(?:[^/\\\n]|\\.){0,2000}/", "", rest)
    return not any("e" in flag or "w" in flag for flag in flags) and not re.search(
        r"(?:^|[;{}\n]|[\d$!,])\s*[erRwW](?:\s|$|;)", rest
    )


def is_own_perl(code: str) -> bool:
    """Whether a Perl or Ruby one-liner reads only its input."""
    if len(code) > LONGEST_PROGRAM or "`" in code or "<<" in code:
        return False
    flags = [substitution["flags"] for substitution in _SED_SUBSTITUTE.finditer(code)]
    if any("e" in flag for flag in flags):
        return False
    rest = _SED_SUBSTITUTE.sub("", code)
    for token in _PERL_CODE.finditer(rest):
        sigil = rest[token.start() - 1 : token.start()] in ("$", "@", "%")
        if token["word"] and not sigil and token["word"] not in _PERL_WORDS:
            return False
        if token["sign"] == "<" and not re.match(r"<(?:STDIN|ARGV)?>|<=?>?\s*[\w$]", rest[token.start() :][:8]):
            return False
    return True


def is_own_powershell(code: str, is_own: IsOwn, judge: Callable[[str], bool]) -> bool:
    """Whether PowerShell code prints only the project's own files; `judge` decides about an address."""
    if len(code) > LONGEST_PROGRAM or re.search(
        r"[`&]|\$\(|::|\biex\b|invoke-(?:expression|command)|new-object|start-process|\$env:", code, re.IGNORECASE
    ):
        return False
    for part in re.split(r"[|;\n]", code):
        words = [word.strip("'\"") for word in re.findall(r"'[^']*'|\"[^\"]*\"|[^\s'\"]+", part)]
        if not words:
            continue
        name = words[0].lower()
        if name in _POWERSHELL_WEB:
            addresses = [word for word in words[1:] if "://" in word or "." in word or "localhost" in word]
            if not addresses or not all(judge(address) for address in addresses):
                return False
        elif (
            name not in _POWERSHELL_OWN
            or (name in ("dotnet", "git") and not judge(part))
            or any(
                names_foreign_address(word)
                for word in words
                if name not in ("select-string", "sls", "write-output", "write-host", "echo")
            )
        ):
            return False
        elif name not in (
            "select-string",
            "sls",
            "write-output",
            "write-host",
            "echo",
            "where-object",
            "where",
            "foreach-object",
            "format-table",
            "ft",
        ):
            paths = [word for word in words[1:] if not word.startswith("-") and re.search(r"[\\/~]|^\.\.", word)]
            if not all(is_own(word.replace("\\", "/")) for word in paths):
                return False
    return True
