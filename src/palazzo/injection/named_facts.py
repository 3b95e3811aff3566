"""Facts about named subjects: facts that a text calls for because it names what they are about.

A name that is mentioned everywhere is not specific. For a fact about such a name, two parts must be named: its subject
and its object, or one of these and the predicate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from palazzo.injection.injectable_facts import Audience, tellable
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.store import entity_rows as entities
from palazzo.store import keyword_table
from palazzo.store.database import Connection
from palazzo.store.fact_rows import Version
from palazzo.text.names import fold
from palazzo.text.stopwords import STOP_WORDS
from palazzo.text.word_forms import index_form

COMMON = 0.01
"""Maximum share of all drawers that contain a name. A more frequent name says little, regardless of how it is
written.
"""
RARE = 0.001
"""Maximum share for a name that is written like an ordinary word: one word in lower case."""
_MIN_DRAWERS = 1_000
"""Minimum number of drawers for word rarity: in a smaller palace only the spelling of a name decides."""
_LONGEST_NAME = 4
"""Maximum words of a name that is searched for in the given text."""
_EDGES = ".,;:!?()[]{}<>\"'`*"


def named_facts(connection: Connection, words: str, trusts: Collection[str], audience: Audience) -> Iterator[Version]:
    """Yield current facts about the names in the words, the newest first."""
    entity_rows = entities.known_among(connection, names_in(words), entities.LATEST)
    if not entity_rows:
        return
    beliefs = Beliefs(connection)
    versions = {version.row: version for entity in entity_rows for version in beliefs.about(entity)}
    current = tellable(
        connection, (version for version in versions.values() if version.superseded_by is None), audience
    )
    roots = {beliefs.root(entity) for entity in entity_rows}
    telling_roots = {root for root in roots if _tells(connection, beliefs.name(root))}
    stems = frozenset(connection.stems(index_form(words)))
    for version, fact in sorted(zip(current, beliefs.tell(current), strict=True), key=lambda pair: -pair[0].row):
        ends = {beliefs.root(version.subject), beliefs.root(version.object)} & roots
        predicate_stems = _extract_topic_stems(connection, version.predicate_name)
        if not ends & telling_roots and len(ends) < 2 and not (predicate_stems and predicate_stems <= stems):
            continue
        if fact.trust in trusts:
            yield version


def names_in(words: str) -> frozenset[str]:
    """Return possible names in a text, folded: runs of a few words between two significant ones."""
    tokens = " ".join(fold(word.strip(_EDGES)) for word in words.split()).split()
    names = set()
    for start in range(len(tokens)):
        for end in range(start + 1, min(start + _LONGEST_NAME, len(tokens)) + 1):
            if tokens[start] not in STOP_WORDS and tokens[end - 1] not in STOP_WORDS:
                names.add(" ".join(tokens[start:end]))
    return frozenset(names)


def is_written_as_a_name(name: str) -> bool:
    """Return whether a name looks like one: several words, a capital, a digit, a sign inside."""
    return not (name.isalpha() and name.islower())


def _tells(connection: Connection, name: str) -> bool:
    """Return whether a name is rare enough in the palace to identify the subject: its rarest word decides."""
    drawers = keyword_table.count_in_scope(connection, "")
    has_name_form = is_written_as_a_name(name)
    if drawers < _MIN_DRAWERS:
        return has_name_form
    stems = _extract_topic_stems(connection, name) or frozenset(connection.stems(name))
    counts = keyword_table.document_frequencies(connection, stems)
    least = min((counts.get(stem, 0) for stem in stems), default=0)
    return least <= (COMMON if has_name_form else RARE) * drawers


def _extract_topic_stems(connection: Connection, text: str) -> frozenset[str]:
    return frozenset(stem for word in text.split() if word not in STOP_WORDS for stem in connection.stems(word))
