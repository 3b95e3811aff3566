"""Names that somebody else may have chosen (branches, tags, files, tickets, titles), as they are shown. Pure.

A name is data: it stands in quotation marks, on one line, cut to a length, and without characters that could end a
fence, open a tag, begin another speaker's line, or turn the text around.
"""

from __future__ import annotations

LONGEST_NAME = 80
"""Characters of a name that are shown."""
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
    """Return a name without quotation marks around it: one line, nothing that reads as a tag or as an entry's id."""
    printable = "".join(letter if letter.isprintable() else " " for letter in name[: 8 * longest])
    words = " ".join(printable.translate(_REPLACEMENTS).split())
    return words if len(words) <= longest else f"{words[: longest - 1].rstrip()}…"


def quoted_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name in quotation marks: what an agent reads as data, not as a sentence that anybody said."""
    return f'"{plain_name(name, longest)}"'


def shown_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Return the name of a wing, a room or a person: as it is if it is short and plain, else in quotation marks."""
    words = name.replace("-", " ").replace("_", " ").replace(".", " ").replace("+", " ").split()
    is_plain = len(name) <= _SHORT and len(words) <= _FEW and all(word.isalnum() for word in words)
    return name if is_plain and " " not in name else quoted_name(name, longest) if name else ""


def shown_place(place: str) -> str:
    """Return a wing, or a wing and a room (`shop/decisions`), as it is shown."""
    return "/".join(map(shown_name, place.split("/", 1)))


_SHORT, _FEW = 40, 4
"""Characters and words of a name that cannot read as a sentence: names of repositories and people have no more."""
