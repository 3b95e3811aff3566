"""The only module that loads ONNX Runtime. It prevents the library from sending anything.

Its builds send usage reports by default, since 1.30 also those for Linux: they look up a Microsoft host every few
seconds, and write a device id and a queue of events below `~/.cache/Microsoft`. `disable_telemetry_events` does not
stop the uploader there. `ORT_DISABLE_TELEMETRY` does, if it is in the environment before the library is loaded.
"""

from __future__ import annotations

import os
from typing import Any

from palazzo.errors import EmbedderUnavailable


def disable_telemetry() -> None:
    """Keep ONNX Runtime from sending data, in this process and in those that it starts.

    Call this before anything imports ONNX Runtime, also through another library (MarkItDown imports it).
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def load_onnxruntime() -> Any:
    """Import ONNX Runtime with its telemetry switched off. Raises EmbedderUnavailable if it cannot be loaded."""
    disable_telemetry()
    try:
        import onnxruntime
    except ImportError as error:
        raise EmbedderUnavailable(
            f"ONNX Runtime cannot be loaded ({error}); reinstall palazzo, or set an OpenAI-compatible embedder."
        ) from error
    onnxruntime.disable_telemetry_events()  # the switch of builds for Windows
    return onnxruntime
