"""Write src/palazzo/security/confusables.py: the letters of other scripts that look like a Latin one.

    pip install --target DIR confusable-homoglyphs==3.3.1
    python tools/make_confusables.py DIR

Source: Unicode's security data (UTS 39, confusables.txt), as the package confusable-homoglyphs carries it. Letters that
Unicode itself decomposes to a Latin one (full width, mathematical, with accents) are left out: the fence sees through
those by the tables of the standard library.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "src/palazzo/security/confusables.py"
HEAD = '''"""Letters of other scripts that look like a Latin one. Written by tools/make_confusables.py.

Source: UTS 39, confusables.txt, as confusable-homoglyphs {version} carries it (MIT; data: Unicode's licence).
"""

from __future__ import annotations

CONFUSABLES = {{
'''
TAIL = '}\n"""By the small letter that they look like."""\n'


def main(directory: Path) -> None:
    """Write the table."""
    data = json.loads((directory / "confusable_homoglyphs/confusables.json").read_text("utf-8"))
    version = next(directory.glob("confusable_homoglyphs-*.dist-info")).name.split("-")[1].removesuffix(".dist")
    alike: dict[str, set[str]] = {chr(code): set() for code in range(ord("a"), ord("z") + 1)}
    for latin, look_alikes in data.items():
        if len(latin) == 1 and latin.isascii() and latin.isalpha():
            letters = (look_alike["c"] for look_alike in look_alikes)
            alike[latin.lower()] |= {letter for letter in letters if is_of_another_script(letter)}
    lines = [f'    "{latin}": "{"".join(sorted(letters))}",\n' for latin, letters in alike.items() if letters]
    TARGET.write_text(
        HEAD.format(version=version) + "".join(lines) + '}\n"""By the small letter that they look like."""\n', "utf-8"
    )


def is_of_another_script(letter: str) -> bool:
    """Whether a letter is one character outside ASCII that Unicode does not decompose to ASCII."""
    return len(letter) == 1 and not letter.isascii() and not unicodedata.normalize("NFKD", letter)[0].isascii()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
