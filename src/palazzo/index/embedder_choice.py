"""Embedder choice: which embedder a palace uses, according to the settings.

This module only makes the choice; it knows no file formats and reads no settings file itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, assert_never, get_args

from palazzo.index.embedder import Embedder

EmbedderKind = Literal["bundled", "granite", "openai"]


@dataclass(frozen=True)
class EmbedderSpec:
    """The embedder to open.

    All fields except `kind` and `threads` apply only to a server; `dimension`, if set, is enforced.
    """

    kind: EmbedderKind = "bundled"
    base_url: str = ""
    model: str = ""
    api_key: str | None = field(default=None, repr=False)
    dimension: int | None = None
    threads: int = 2


def choose_kind(setting: str) -> EmbedderKind:
    """Return the kind that the setting `embedder.kind` names."""
    return next((kind for kind in get_args(EmbedderKind) if kind == setting), "bundled")


def open_embedder(spec: EmbedderSpec) -> Embedder:
    """Open the embedder that `spec` names. Raises EmbedderUnavailable, with advice."""
    match spec.kind:
        case "bundled":
            from palazzo.index.minilm import MiniLM

            return MiniLM(spec.threads)
        case "granite":
            from palazzo.index.granite import Granite

            return Granite(spec.threads)
        case "openai":
            from palazzo.index.openai_compatible import OpenAICompatible

            return OpenAICompatible(spec.base_url, spec.model, spec.api_key, spec.dimension)
        case _:
            assert_never(spec.kind)
