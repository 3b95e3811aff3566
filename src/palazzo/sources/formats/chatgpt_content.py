"""Content of one message of a ChatGPT export, by `content_type`, and the tool that it is for or from.

`content_type` is `text` or `multimodal_text` (with `parts`: strings, and objects such as `image_asset_pointer`), `code`
and `execution_output` (`text`), `thoughts` (`thoughts`: `summary` and `content`), `reasoning_recap` (`content`),
`tether_quote` and `sonic_webpage` (a page: `title`, `url`, `text`), `tether_browsing_display` (`result`),
`system_error` (`name`, `text`), `user_editable_context` (a person's standing instructions), and
`model_editable_context`. An assistant's message with a `recipient` other than `all` is a call of that tool; a message
of role `tool` is the output of the tool `author.name`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from palazzo.model import PartKind, Role, Trust
from palazzo.sources.formats.block_text import JOINT, Composer
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.row_records import objects_in

ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"}

_OWN_TOOLS = ("python", "bio", "canmore", "dalle", "image_gen", "container", "t2uay3k")
"""Tools that bring no untrusted content: code, memory, canvas, pictures. Every other tool may (`web`, plug-ins)."""
_IMAGES = ("image_asset_pointer",)
_FIELDS = {
    "code": ("text",),
    "execution_output": ("text",),
    "reasoning_recap": ("content",),
    "tether_quote": ("title", "url", "text"),
    "sonic_webpage": ("title", "url", "text"),
    "tether_browsing_display": ("summary", "result"),
    "system_error": ("name", "text"),
    "user_editable_context": ("user_profile", "user_instructions"),
    "model_editable_context": ("model_set_context",),
}
"""The fields that contain words, for the types that have them in fields."""

Block = tuple[PartKind, str]


def compose(message: JsonObject, role: Role) -> Composer | None:
    """Render a message; None if its content type is unknown."""
    content = message.get("content")
    if content is None:
        content = {"content_type": "text", "parts": []}
    blocks = _blocks(content) if isinstance(content, dict) else None
    if blocks is None:
        return None
    recipient = string(message, "recipient")
    author = message.get("author")
    tool = string(author, "name") if isinstance(author, dict) else ""
    composer = Composer()
    for kind, text in blocks:
        if role == "tool":
            composer.add("tool_result", text, name=tool, trust=_trust(tool))
        elif role == "assistant" and recipient not in ("", "all") and kind == "text":
            composer.add("tool_call", f"{recipient}\n{text}" if text else "", name=recipient)
        else:
            composer.add(kind, text)
    for text in _attachments(message):
        composer.add("attachment", text)
    return composer


def _blocks(content: JsonObject) -> list[Block] | None:
    kind = string(content, "content_type")
    if kind == "thoughts":
        return [("thinking", text) for entry in objects_in(content.get("thoughts")) if (text := _render_thought(entry))]
    if kind in _FIELDS:
        words = "\n".join(text for field in _FIELDS[kind] if (text := string(content, field)))
        return [("thinking" if kind == "reasoning_recap" else "text", words)]
    if isinstance(content.get("parts"), list):
        return list(_parts(content["parts"]))
    return [("text", string(content, "text"))] if isinstance(content.get("text"), str) else None


def _parts(parts: list[object]) -> Iterator[Block]:
    for part in parts:
        if isinstance(part, str):
            yield "text", part
        elif isinstance(part, dict):
            yield _part(part)


def _part(part: JsonObject) -> Block:
    kind = string(part, "content_type")
    if kind in _IMAGES:
        return "image", _picture(part)
    if isinstance(part.get("text"), str):  # what was spoken (`audio_transcription`), and canvas
        return "text", string(part, "text")
    pointer = string(part, "asset_pointer")
    return "attachment", f"[{kind or 'part'}, {pointer}]" if pointer else f"[{kind or 'part'}]"


def _picture(part: JsonObject) -> str:
    """Describe an image by its location, its size, and the prompt it was generated from."""
    sides = [side for key in ("width", "height") if isinstance(side := part.get(key), int)]
    description = ", ".join(
        filter(None, (string(part, "asset_pointer"), "×".join(map(str, sides)) if len(sides) == 2 else ""))
    )
    metadata = part.get("metadata")
    dalle = metadata.get("dalle") if isinstance(metadata, dict) else None
    prompt = string(dalle, "prompt") if isinstance(dalle, dict) else ""
    return "\n".join(filter(None, (f"[image, {description}]" if description else "[image]", prompt)))


def _render_thought(entry: JsonObject) -> str:
    return JOINT.join(filter(None, (string(entry, "summary"), string(entry, "content"))))


def _attachments(message: JsonObject) -> Iterator[str]:
    metadata = message.get("metadata")
    if isinstance(metadata, dict):
        for file in objects_in(metadata.get("attachments")):
            labels = [text for key in ("name", "mime_type", "mimeType") if (text := string(file, key))]
            if labels:
                yield f"[{', '.join(labels)}]"


def _trust(tool: str) -> Trust:
    return "tool" if tool.split(".")[0] in _OWN_TOOLS else "external"
