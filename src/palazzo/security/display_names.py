"""The display of names that others may have chosen (branches, tags, files, tickets, titles). Pure.

A name is data: it is shown in quotation marks, on one line, with a limited length, and without characters that could
close a fence, open a tag, begin another speaker's line, or reverse the text direction.
"""

from __future__ import annotations

LONGEST_NAME = 80
"""The most characters of a name that are shown."""
_REPLACEMENTS = str.maketrans(
    {
        **dict.fromkeys("<＜﹤‹〈⟨〈❮❰⦑˂≪⧼≺⋖«《", "("),
        **dict.fromkeys(">＞﹥›〉⟩〉❯❱⦒˃≫⧽≻⋗»》", ")"),
        **dict.fromkeys("[［【〔⟦", "("),
        **dict.fromkeys("]］】〕⟧", ")"),
        **dict.fromkeys('"“”„‟«»`＂', "'"),
    }
)


def plain_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name without quotation marks around it: one line that contains no tag and no entry id."""
    printable = "".join(letter if letter.isprintable() else " " for letter in name[: 8 * longest])
    words = " ".join(printable.translate(_REPLACEMENTS).split())
    return words if len(words) <= longest else f"{words[: longest - 1].rstrip()}…"


def quoted_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name in quotation marks, so that an agent reads it as data and not as a sentence."""
    return f'"{plain_name(name, longest)}"'


def shown_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Return the name of a wing, room or person: unchanged if it is short and plain, else in quotation marks."""
    words = name.replace("-", " ").replace("_", " ").replace(".", " ").replace("+", " ").split()
    is_plain = len(name) <= _SHORT and len(words) <= _FEW and all(word.isalnum() for word in words)
    return name if is_plain and " " not in name else quoted_name(name, longest) if name else ""


def shown_place(place: str) -> str:
    """Return a wing, or a wing and a room (`shop/decisions`), for display."""
    return "/".join(map(shown_name, place.split("/", 1)))


def name_teammate(person: str, author: str) -> str:
    """Return who said something that a teammate shares, so that it never reads as the user's.

    That is the teammate, and the author if it was another, such as their agent.
    """
    name, writer = plain_name(person), plain_name(author)
    return f"{writer} (teammate {name})" if writer not in ("", name) else f"teammate {name}"


_SHORT, _FEW = 40, 4
"""The most characters and words of a name that cannot read as a sentence. Names of repositories and people have no
more.
"""
