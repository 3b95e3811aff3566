"""install skills, and install HOST --skills: Palazzo's skills in the directories in which hosts look for them.

`~/.agents/skills` is the directory that most hosts share, a host's own one is in its `host.py`. A `SKILL.md` that
somebody else wrote, or changed, is never overwritten and never deleted.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.hosts.skill_packages import FILE, SKILLS, is_ours, skill_text
from palazzo.hosts import host_files, host_registry, install_host
from palazzo.hosts.edited_files import Edit

if TYPE_CHECKING:
    from palazzo.hosts.host_descriptor import Location
    from palazzo.operations.context import Context

TARGET = "skills"
"""The target that stands for the directory which hosts share."""
SHARED = Path(".agents") / "skills"
NOTE = (
    "Hosts read skills when a session starts. Most hosts read this directory; Claude Code does not: "
    "palazzo install claude-code --skills."
)


def directory_of(context: Context, target: str, project: bool, user: bool) -> Path | None:
    """Return the directory of a target's skills, of the person or of the project; None if the host has none."""
    root = install_host.scope(context, project, user)
    if target == TARGET:
        return (root or host_files.home(context.variables)) / SHARED
    host = host_registry.find_host(target)
    if host is None or host.skills is None:
        return None
    return _directory_at(context, host.skills) if root is None else root / host.project_skills


def install_edits(context: Context, directory: Path) -> list[Edit]:
    """Return the edits that write the skills."""
    return [_edit(directory, skill.name, skill_text(context, skill)) for skill in SKILLS]


def update_edits(context: Context, directory: Path) -> list[Edit]:
    """Return the edits that write the skills which are installed there again, in the text of this version."""
    installed = set(_installed(directory))
    return [_edit(directory, skill.name, skill_text(context, skill)) for skill in SKILLS if skill.name in installed]


def removal_edits(directory: Path) -> list[Edit]:
    """Return the edits that delete the skills which are installed there."""
    return [
        Edit(directory / name / FILE, "skill", _without_ours, owns_directory=True) for name in _installed(directory)
    ]


def check_supported(target: str, directory: Path | None) -> Path:
    """Return the directory; UsageError if it is not known where the host looks for skills."""
    if directory is None:
        raise UsageError(
            f"Palazzo does not know where {target} looks for skills; 'palazzo install skills' writes them into "
            f"~/{SHARED.as_posix()}, which many hosts read."
        )
    return directory


def _directory_at(context: Context, location: Location) -> Path:
    custom = context.variables.get(location.variable, "") if location.variable else ""
    base = Path(custom).expanduser() if custom else host_files.home(context.variables) / location.default
    return base / location.entries[0]


def _installed(directory: Path) -> list[str]:
    return [skill.name for skill in SKILLS if is_ours(host_files.text_of(directory / skill.name / FILE))]


def _edit(directory: Path, name: str, new_text: str) -> Edit:
    def change(text: str | None) -> str:
        if text is not None and text != new_text and not is_ours(text):
            raise ValueError("Palazzo did not write it, or somebody has changed it since")
        return new_text

    return Edit(directory / name / FILE, "skill", change, private=False, owns_directory=True)


def _without_ours(text: str | None) -> str | None:
    return None if text is not None and is_ours(text) else text
