"""Strings in columns of JSON text, read so that lone surrogates stay what they are.

JSON holds a lone surrogate as an escape. SQLite's JSON functions make bytes of it that are not UTF-8, and such a TEXT
cannot be read; as a BLOB it can.
"""

from __future__ import annotations


def string_at(column: str, path: str) -> str:
    """Return the SQL expression of the string at a JSON path of a column, for `decode_string`."""
    return f"CAST(json_extract({column}, '{path}') AS BLOB)"


def decode_string(value: bytes | None) -> str:
    """Return the string that `string_at` selected; '' if there is none."""
    return "" if value is None else bytes(value).decode("utf-8", "surrogatepass")
