"""A notification on the person's desktop, shown by each system's own program.

It is shown without waiting for it. The text is passed as arguments or in the environment: no shell ever parses it. If
the program is missing, nothing is shown, and the log says so once.
"""

from __future__ import annotations

import functools
import html
import logging
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TITLE = "Palazzo"
_log = logging.getLogger("palazzo.service")
_APPLESCRIPT = (
    *("-e", "on run argv"),
    *("-e", "display notification (item 2 of argv) with title (item 1 of argv)"),
    *("-e", "end run"),
)
_TITLE, _WORDS = "PALAZZO_TOAST_TITLE", "PALAZZO_TOAST_WORDS"
_POWERSHELL = f"""
$manager = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$toast = $manager::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$texts = $toast.GetElementsByTagName('text')
$texts.Item(0).AppendChild($toast.CreateTextNode($env:{_TITLE})) | Out-Null
$texts.Item(1).AppendChild($toast.CreateTextNode($env:{_WORDS})) | Out-Null
$id = '{{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}}\\WindowsPowerShell\\v1.0\\powershell.exe'
$manager::CreateToastNotifier($id).Show([Windows.UI.Notifications.ToastNotification]::new($toast))
"""


def show(words: str, variables: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Show `words` as a notification; return whether the program was started. Never raises, and does not wait."""
    program, *arguments = command(words, platform)
    environment = {**os.environ, **variables, _TITLE: TITLE, _WORDS: words}
    path = shutil.which(program, path=environment.get("PATH"))
    if path is None:
        _note(f"no desktop notification: {program} is missing")
        return False
    process_options: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        process_options = {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    try:
        process = subprocess.Popen(  # noqa: S603 - the system's own program, and its arguments apart
            [path, *arguments],
            cwd=Path(path).parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **process_options,
        )
    except (OSError, ValueError) as error:
        _note(f"no desktop notification: {program} cannot be started ({type(error).__name__})")
        return False
    threading.Thread(target=process.wait, name="palazzo-toast", daemon=True).start()  # or it stays as a zombie
    return True


def command(words: str, platform: str) -> list[str]:
    """Return the program and the arguments that show `words` on that platform."""
    match platform:
        case "darwin":
            return ["osascript", *_APPLESCRIPT, TITLE, words]
        case "win32":
            return ["powershell.exe", "-NoProfile", "-NonInteractive", "-Command", _POWERSHELL]
        case _:  # the body of a notice is markup
            return ["notify-send", "--app-name=Palazzo", "--", TITLE, html.escape(words, quote=False)]


@functools.cache
def _note(sentence: str) -> None:
    """Log a sentence, once."""
    _log.info(sentence)
