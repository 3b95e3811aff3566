"""Facts about what is named: those that words call for because of a name that tells what they are about.

A name that everything mentions tells nothing: of such a fact two parts must be named, its subject and its object, or
one of these and what joins them.
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
"""The share of all drawers from which a name says little, however it is written."""
RARE = 0.001
"""The share up to which a name tells enough that is written like any word: one, in small letters."""
_MIN_DRAWERS = 1_000
"""Drawers below which no word is rare: there a name tells only by how it is written."""
_LONGEST_NAME = 4
"""Words of a name that is looked for in the words at hand."""
_EDGES = ".,;:!?()[]{}<>\"'`*"


def named_facts(connection: Connection, words: str, trusts: Collection[str], audience: Audience) -> Iterator[Version]:
    """Yield what holds now of what the words name, the newest first."""
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
    """Return what may be a name in a text, folded: runs of a few words, between two that say something."""
    tokens = " ".join(fold(word.strip(_EDGES)) for word in words.split()).split()
    names = set()
    for start in range(len(tokens)):
        for end in range(start + 1, min(start + _LONGEST_NAME, len(tokens)) + 1):
            if tokens[start] not in STOP_WORDS and tokens[end - 1] not in STOP_WORDS:
                names.add(" ".join(tokens[start:end]))
    return frozenset(names)


def is_written_as_a_name(name: str) -> bool:
    """Whether a name shows that it is one: several words, a capital, a digit, a sign inside."""
    return not (name.isalpha() and name.islower())


def _tells(connection: Connection, name: str) -> bool:
    """Whether a name is rare enough in the palace to tell what is spoken of: its rarest word decides."""
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
