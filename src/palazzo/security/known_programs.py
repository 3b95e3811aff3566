"""Tables of programs whose output is known to be local, by their purpose. `command_trust` judges their arguments.

A program that is in no table is foreign.
"""

from __future__ import annotations

import re

from palazzo.text.lazy_patterns import make_regex


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PURE = _names(
    """
    palazzo apply_patch applypatch echo printf pwd date cal true false : sleep wait kill jobs disown fg bg ulimit
    umask exit return break continue shift set unset export readonly local declare typeset read mapfile readarray
    shopt setopt alias unalias hash trap getopts let test [ [[ (( uname arch hostname whoami id groups tty nproc
    getconf uptime free vmstat lscpu sw_vers ver sync yes seq expr bc factor numfmt mkdir rmdir touch chmod chown
    chgrp mktemp rm unlink pkill killall pgrep ps lsof ss netstat ifconfig which whereis type hash builtin logger
    tput clear reset stty renice cls mkfifo fuser locale env printenv md rd createdb dropdb pg_isready initdb nop
    disable enable suspend times dirs nvidia-smi rocm-smi df
    """
)
"""Programs that print their own text, numbers and states of this machine, with any arguments."""

TEXT = _names(
    """
    cat tac head tail less more bat batcat nl rev wc sort uniq cut tr paste column comm join fold fmt expand
    unexpand pr split csplit diff cmp sdiff colordiff delta xxd od hexdump hd base64 base32 md5sum sha1sum sha256sum
    sha512sum shasum md5 cksum b2sum stat file du ls ll la dir tree exa eza lsd readlink realpath basename dirname
    iconv dos2unix unix2dos strings csvcut csvlook csvstat cloc tokei scc wdiff nm objdump readelf ldd otool size
    addr2line c++filt look shuf sum ts sponge tsort xmllint glow mdcat hexyl dust duf ncdu vdir jless pygmentize
    highlight truncate rename hyperlink getfacl
    """
)
"""Programs that print the files named in their arguments: each file must be the project's own."""

WITH_PATTERN = _names(
    "grep egrep fgrep rg ripgrep ag ack ugrep sed gsed awk gawk mawk nawk jq gojq jaq yq xq tomlq dasel fx gron"
    " ast-grep sg sd comby"
)
"""Programs that take a pattern or a script first, then files."""
RECURSIVE = _names("grep egrep fgrep")

TESTS_AND_LINTERS = _names(
    """
    pytest py.test unittest nose2 nosetests mypy pyright basedpyright pyre ruff black isort flake8 pylint pyflakes
    pycodestyle pydocstyle bandit vulture coverage codespell autopep8 yapf autoflake pyupgrade djlint mdformat
    towncrier tox nox ty pytype refurb interrogate deptry import-linter lint-imports doc8 sphinx-build mkdocs cython
    zuban jest vitest mocha ava tap tape karma jasmine cypress playwright tsc vue-tsc eslint prettier stylelint
    biome oxlint xo standard knip depcheck madge c8 nyc rollup webpack vite esbuild parcel swc babel tsup tsdown
    unbuild turbo nx lerna wireit rspack svelte-check ng commitlint markdownlint markdownlint-cli2 textlint alex
    cspell htmlhint publint attw size-limit tstyche tsd typedoc api-extractor wdio nightwatch testcafe
    openapi-typescript graphql-codegen quicktype orval sass postcss tailwindcss buf protoc protolint spectral
    redocly swagger-cli ajv rustc rustfmt clippy-driver cargo-nextest trybuild wasm-pack wasm-bindgen cbindgen
    bindgen gofmt goimports golangci-lint staticcheck errcheck gotestsum ginkgo golint gofumpt revive gci stringer
    mockgen sqlc wire templ gcc g++ cc c++ clang clang++ clang-tidy clang-format clang-check cppcheck cpplint iwyu
    ld ar as ranlib strip nasm cmake ctest ninja meson scons autoconf automake configure bear ccache gcov lcov gcovr
    valgrind nvcc iverilog verilator ghdl yosys javac jar checkstyle ktlint detekt spotless google-java-format
    scalac scalafmt scalafix kotlinc groovyc rspec rubocop standardrb reek brakeman minitest cucumber sorbet srb
    steep rbs erb_lint erblint haml-lint slim-lint fasterer phpunit pest phpstan psalm php-cs-fixer phpcs phpcbf
    phpmd rector pint infection behat codecept deptrac phan swiftlint swiftformat swiftc xcbeautify xcpretty xctest
    xcodebuild dialyzer credo ex_doc erlc elixirc ghc hlint ormolu fourmolu stylish-haskell ocamlfind ocamlformat
    dune elm-test elm-format elm-review luacheck stylua busted nim crystal ameba dmd ldc2 gleam v fpc gfortran
    fprettify shellcheck shfmt bats hadolint yamllint actionlint tflint kubeval kubeconform kube-linter cfn-lint
    ansible-lint taplo jsonlint sqlfluff squawk vale proselint write-good dotenv-linter editorconfig-checker ec
    typos gitleaks gitlint reuse licensecheck semgrep conftest opa regal rego checkmake mbake statix nixfmt
    alejandra deadnix dprint treefmt hugo zola mdbook asciidoctor latexmk pdflatex xelatex lualatex typst bibtex
    chktex texcount dot plantuml mmdc perf gprof cargo-bench pyperf benchstat flamegraph tokei sloccount lizard
    radon xenon mutmut cosmic-ray hypothesis ktest gtest stryker prove behave robot trial ward shellspec bashunit
    lit FileCheck ant msbuild gn electron-builder pyinstaller ctags kcov xmllint tidy vnu html-validate
    """
)
"""Compilers, test runners, linters, formatters, code generators: they print content of the project's files."""

PACKAGE_RUNNERS = _names("npx pnpx bunx uvx pipx")
"""Programs that run a tool, and may download it first."""
SHELL_NAMES = _names("bash sh zsh dash ksh fish")
TASK_RUNNERS = _names("make gmake bmake just task rake invoke inv doit mage go-task grunt gulp")
NODE_MANAGERS = _names("npm pnpm yarn bun")

LOADERS = _names("wrk ab hey oha bombardier autocannon vegeta siege")
CLIENTS = (
    _names("curl wget http https xh xhs curlie nc ncat netcat telnet websocat wscat grpcurl lynx w3m links iwr irm")
    | LOADERS
)

TASK_WORDS = _names(
    """
    all test tests testing check checks lint linter linters lints format fmt build builds built compile typecheck
    type types typed typing typecheck tsc typescript unit integration e2e spec specs coverage cov clean rebuild
    debug release dev prod production development ci local verify validate validation fast slow quick full watch
    unittest unittests pytest jest vitest mypy ruff eslint prettier black clippy bench benchmark benchmarks docs doc
    documentation html site gen generate generated codegen proto protobuf protos style styles fix autofix pre commit
    precommit prepush static analysis analyze analyse smoke regression functional acceptance component components
    package bundle assemble dist wheel sdist app web api server client cli core lib libs common shared frontend
    backend ui main src snapshot snapshots js ts css py go rust java cpp c wasm node browser chrome android ios
    linux macos windows x64 arm64 amd64 help version versions list targets info print show dry run only once stats
    count size sizes changed affected parallel verbose quiet no with and for of the a smoke asan tsan msan ubsan
    sanitize sanitizers race fuzz property mutation golden perf profile vet format-check black-check ruff-check
    isort typos spelling spell headers license licenses migrations makemigrations showmigrations models i18n
    messages translations lang icons sprite assets minify compress jar war apk aab exe binary bin binaries
    executable static shared debugbuild releasebuild objects obj header
    """
)
"""Words in the names of tasks that build, test or check a project."""
FETCHING_WORDS = _names(
    """
    fetch pull download downloads sync import update upgrade vendor deps dependencies get restore refresh mirror
    clone crawl scrape install bootstrap setup seed load ingest populate dataset datasets data submodules prepare
    init
    """
)
"""Words in the names of tasks that may put foreign files in the project."""

WRAPPERS = _names(
    """
    sudo doas nice ionice nohup setsid stdbuf unbuffer time command builtin exec env caffeinate chronic faketime
    timeout gtimeout taskset chrt prlimit dbus-run-session xvfb-run rtk winpty catchsegv eatmydata strace ltrace
    cross-env dotenv mise asdf direnv entr watchexec noglob nocorrect watch systemd-inhibit
    """
)
ENVIRONMENT_RUNNERS = {
    "uv": "run",
    "poetry": "run",
    "pipenv": "run",
    "pdm": "run",
    "rye": "run",
    "hatch": "run",
    "pixi": "run",
    "conda": "run",
    "bundle": "exec",
    "rbenv": "exec",
    "pyenv": "exec",
    "mise": "exec",
    "asdf": "exec",
    "direnv": "exec",
    "devbox": "run",
}
"""Programs that run another program in a project's own environment, and the word before it."""

SYSTEM_DIRECTORY = make_regex(
    r"(?:/usr(?:/local)?/s?bin|/s?bin|/opt/homebrew/bin|/opt/local/bin"
    r"|(?:\./|[\w./~-]+/)?(?:\.bin|\.?v?env/(?:bin|Scripts)|vendor/bin))/"
)
"""Directories of installed programs, which are recognized by name. A program elsewhere is the project's own."""
OWN_TOOLS = _names("gradlew mvnw configure manage.py rails rake rspec rubocop artisan setup.py noxfile.py dev.py")
FILES_OF_RUNNERS = {
    "make": "Makefile",
    "gmake": "Makefile",
    "just": "justfile",
    "task": "Taskfile.yml",
    "rake": "Rakefile",
    "mage": "magefile.go",
    "npm": "package.json",
    "pnpm": "package.json",
    "yarn": "package.json",
    "bun": "package.json",
    "invoke": "tasks.py",
    "tox": "tox.ini",
    "nox": "noxfile.py",
    "grunt": "Gruntfile.js",
    "gulp": "gulpfile.js",
    "gradlew": "build.gradle",
    "gradle": "build.gradle",
    "mvn": "pom.xml",
    "mvnw": "pom.xml",
    "cargo": "build.rs",
    "pytest": "conftest.py",
}
"""The file that defines the tasks of each runner."""


def is_build_task(name: str) -> bool:
    """Whether a task's name says that it builds, tests or checks."""
    words = [word for word in _task_words(name) if not word.isdigit()]
    if words and (
        words[0] in ("test", "tests", "spec", "check") or words[-1] in ("test", "tests", "spec", "specs", "check")
    ):
        return not any(word in FETCHING_WORDS for word in words)
    return bool(words) and all(word in TASK_WORDS for word in words)


def is_fetching_task(name: str) -> bool:
    """Whether a task's name says that it fetches files."""
    return any(word in FETCHING_WORDS for word in _task_words(name))


def _task_words(name: str) -> list[str]:
    spaced_name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name[:400])
    return [word for word in re.split(r"[^a-z0-9]+", spaced_name.lower()) if word]
