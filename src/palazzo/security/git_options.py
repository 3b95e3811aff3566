"""Tables of git's commands and options, for `git_commands`."""

from __future__ import annotations

WITH_VALUE = frozenset(
    """
    -n -L -S -G -U -e --author --since --until --after --before --grep --format --pretty --max-count --date
    --diff-filter
    --word-diff-regex --committer --skip --sort --points-at --unified --inter-hunk-context --anchored --contains
    --merged
    --no-merged --no-contains --max-depth -O -o --output --output-directory --start-number --subject-prefix
    --reroll-count
    """.split()
)
"""Options of commands that print commits. Their value is a separate word, and not a revision."""
TREE_WITH_VALUE = frozenset(
    [
        "-m",
        "-X",
        "-F",
        "-b",
        "-B",
        "-c",
        "-C",
        "--strategy",
        "--strategy-option",
        "--onto",
        "--message",
        "--file",
        "--cleanup",
        "--orphan",
        "--conflict",
        "--source",
        "--directory",
        "--exclude",
        "--pathspec-from-file",
    ]
)
"""Options of commands that change the working tree. Their value is a separate word, and not a revision."""
CLONE_WITH_VALUE = frozenset(
    [
        "-b",
        "--branch",
        "-o",
        "--origin",
        "-c",
        "--config",
        "--depth",
        "-j",
        "--jobs",
        "--filter",
        "--reference",
        "-u",
        "--upload-pack",
        "--shallow-since",
        "--separate-git-dir",
        "--template",
        "--reference-if-able",
        "--server-option",
        "--shallow-exclude",
        "--bundle-uri",
    ]
)
PRINTS_LOCAL = frozenset(
    """
    status reflog add mv rm commit stash bisect rev-list rev-parse merge-base cherry name-rev describe var version
    count-objects fsck gc prune init config check-ignore check-attr check-ref-format ls-files hash-object write-tree
    update-index symbolic-ref column mailmap check-mailmap diff-files maintenance sparse-checkout clean rerere push
    send-pack update-ref merge-tree merge-file rm stripspace interpret-trailers lfs-status
    """.split()
)
"""Commands that print only local states, names and hashes, for any revision."""
PRINTS_COMMITS = frozenset(
    """
    log show diff blame annotate shortlog whatchanged diff-tree diff-index format-patch cat-file ls-tree grep archive
    range-diff show-branch cherry-pick revert merge rebase checkout switch restore reset branch tag worktree am apply
    """.split()
)
TREE = frozenset({"merge", "rebase", "cherry-pick", "checkout", "switch", "reset", "am", "apply", "restore", "pull"})
ALL_BRANCHES = frozenset({"--all", "--remotes", "-a", "-r", "-av", "-avv", "-va", "-rv", "-vr", "-ra", "-vva"})
MESSAGE = frozenset(
    {
        "-m",
        "--message",
        "-am",
        "-F",
        "--file",
        "-sm",
        "-asm",
        "--trailer",
        "-C",
        "-c",
        "--author",
        "--date",
        "-qm",
        "-aqm",
        "-qam",
    }
)
