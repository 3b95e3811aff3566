"""Rule for things that are no longer used, allowed or done."""

from __future__ import annotations

import re
from collections.abc import Iterator

from palazzo.knowledge.modality import asserts, extract_clause
from palazzo.knowledge.rules.claim import Claim, claim
from palazzo.knowledge.rules.noun_phrases import STOP, THING, is_thing, owner_of_deed, tidy
from palazzo.knowledge.statements import Statement
from palazzo.text.lazy_patterns import make_regex

_ENDING = (
    r"(?:dropped|removed|retired|discontinued|decommissioned|shut down|abolished|phased out"
    r"|scrapped|sunset|killed|axed|deleted|dismantled|abandoned)"
)
_USE_VERBS = (
    "(?:us(?:e|es|ed|ing)|support(?:s|ed|ing)?|do(?:es|ing)?|run(?:s|ning)?|build(?:s|ing)?(?: "
    "for)?|ship(?:s|ping)?|maintain(?:s|ing)?|serv(?:e|es|ed|ing)|offer(?:s|ed|ing)?|depend(?:s|ing)? "
    "on|rel(?:y|ies|ying) "
    "on|publish(?:es|ing)?|need(?:s)?|require(?:s)?|have|has|having|keep(?:s|ing)?|accept(?:s|ing)?|target(?:s|ing)?|deploy(?:s|ing)?(?: "
    "to)?|host(?:s|ing)?|test(?:s|ing)?(?: on| against)?|pay(?:s|ing)?(?: "
    "for)?|allow(?:s|ing)?|write|writing|send(?:s|ing)?)"
)
_USE_STATES = (
    "(?:allowed|used|supported|maintained|available|in "
    "use|served|offered|run|deployed|published|built|accepted|permitted|enabled|part of)"
)


def _rule(cues: tuple[str, ...], pattern: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """Pair a pattern with words to look for first: the pattern is slow."""
    return cues, make_regex(pattern.replace("THING", THING).replace("STOP", STOP), re.IGNORECASE)


_ANY_MORE = ("any more", "anymore", "any longer")
_ENDINGS = (
    "dropped", "removed", "retired", "discontinued", "decommissioned", "shut down", "abolished", "phased out", "scrapped",
    "sunset", "killed", "axed", "deleted", "dismantled", "abandoned",
)  # fmt: skip
_CESSATION_RULES = (
    _rule(("stopped", "quit", "ceased"), f"(?P<who>.*?)\\b(?:(?:have|has)\\s)?(?P<cue>stopped|quit|ceased)\\s(?:{_USE_VERBS}\\s)?(?P<old>THING)STOP"),
    _rule(("no longer",), rf"(?P<who>.*?)\b(?P<cue>no longer)\s{_USE_VERBS}\s(?P<old>THING)STOP"),
    _rule(_ANY_MORE, "(?P<who>.*?)\\b(?P<cue>(?:don't|doesn't|do not|does "
                     f"not|aren't|isn't))\\s{_USE_VERBS}\\s(?P<old>THING)\\s(?:any\\s?more|any longer)\\b"),
    _rule(("hasn't", "haven't", "has not", "have not"), "(?P<who>.*?)\\b(?P<cue>(?:hasn't|haven't|has not|have "
                                                        f"not))\\s{_USE_VERBS}\\s(?P<old>THING)\\ssince\\b"),
    _rule(("no longer",), rf"^(?P<who>)(?:.*[:,]\s)??(?P<old>THING)\s(?:is|are)\s(?P<cue>no longer)\s{_USE_STATES}\b"),
    _rule(_ANY_MORE, "^(?P<who>)(?:.*[:,]\\s)??(?P<old>THING)\\s(?P<cue>(?:isn't|aren't|is not|are "
                     f"not))\\s{_USE_STATES}\\s(?:any\\s?more|any longer)\\b"),
    _rule(_ENDINGS, "^(?P<who>)(?:.*[:,]\\s)??(?P<old>THING)\\s(?P<cue>(?:was|were|has been|have "
                    f"been|is|are|got)\\s(?:now\\s|finally\\s|all\\s)?{_ENDING})\\b"),
    _rule((" gone", " history", " dead", " no more", "out of service", "switched off"), r"^(?P<who>)(?:.*[:,]\s|and\s)??(?P<old>THING)\s(?P<cue>(?:is|are)\s(?:gone|history|dead|no more|out of service|switched off))\b"),
    _rule(_ENDINGS, f"(?P<who>.*?)\\b(?:^|\\b(?:we|i|have|has)\\s(?:have\\s|finally\\s|just\\s)?)(?P<cue>{_ENDING})\\s(?:support "
                    "for\\s|the use of\\s)?(?P<old>THING)STOP"),
    _rule(("moved off", "migrated off", "came off", "are off", "'re off", "away from", "got rid of"), r"(?P<who>.*?)(?:\b|(?=['’]))(?P<cue>(?:(?:moved|migrated|came|are) off|(?<=we)(?:'|’)re off|(?:moved|switched|migrated) away from|got rid of))\s(?P<old>THING)STOP"),
    _rule(("there",), r"(?P<who>)\bthere(?:'s| is| are)\s(?P<cue>no(?: longer(?: an?| any)?)?)\s(?P<old>THING)\s(?:any\s?more|any longer|now)\b"),
    _rule(("there",), r"(?P<who>)\bthere(?:'s| is| are)\s(?P<cue>no longer (?:an?|any))\s(?P<old>THING)STOP"),
    _rule(("no longer", "ended", "has gone", "have gone", "been ", "end of life", "went away", "exist", "thing of the past", "is over", "not in use"), r"^(?P<who>)(?:.*[:,]\s|and\s)??(?P<old>THING)\s(?P<cue>no longer (?:exists?|runs?|works?|applies|apply|happens?|takes? place|counts?)|(?:has|have) (?:ended|gone|been (?:sunset|withdrawn|cancelled))|reached (?:its )?end of life|went away|(?:doesn't|does not|don't) exist (?:any\s?more|any longer)|is a thing of the past|is over|is not in use (?:any\s?more|any longer))\b"),
    _rule(("cancel", "gave up", "ripped out", "unplugged", "withdr", "took down", "tore down", "uninstall", "goodbye"), r"(?P<who>.*?)\b(?:^|\b(?:we|i|have|has|and)\s(?:have\s|finally\s|just\s)?)(?P<cue>(?:cancelled|canceled|gave up|ripped out|unplugged|withdrew|took down|tore down|uninstalled|said goodbye to))\s(?P<old>THING)STOP"),
    _rule(("gibt es", "läuft", "nutzen wir", "verwenden wir", "brauchen wir", "n'est", "n’est", "ya no", "non è", "já não"), r"^(?P<who>)(?:.*[:,]\s)??(?P<old>THING)\s(?:gibt es|läuft|nutzen wir|verwenden wir|brauchen wir|n['’]est|ya no se|ya no|non è|já não é|já não)\s(?P<cue>nicht mehr|plus|usa|es|più|usad\w+|est[áa])\b"),
    _rule(("no more",), r"(?:^|[:,]\s)(?P<who>)(?P<cue>no more)\s(?P<old>THING)STOP"),
    _rule(("support for",), r"\b(?P<who>)support for (?P<old>THING)\s(?P<cue>(?:has\s)?ended|was (?:dropped|removed)|is gone|has been (?:dropped|removed))\b"),
    _rule(("nicht mehr", "abgescha", "eingestellt"), r"^(?P<who>)(?:.*[:,]\s)??(?P<old>THING)\s(?:wird|werden|wurde|ist|sind)\s(?P<cue>nicht mehr|abgeschafft|abgeschaltet|eingestellt)"),
    _rule(("nicht mehr",), r"(?P<who>)\b(?:nutzen|verwenden|benutzen|haben|machen|unterstützen)\s(?:wir\s)?(?P<old>THING)\s(?P<cue>nicht mehr)"),
    _rule((" plus",), r"(?P<who>)\b(?P<cue>n['’e]\s?(?:utilise|utilisons|avons|est|supporte)\w*\splus)\s(?:(?:de|du|la|le)\s)?(?P<old>THING)STOP"),
    _rule(("ya no", "dejamos", "não usamos", "deixamos", "non usiamo"), r"(?P<who>)\b(?P<cue>ya no (?:usamos|se usa|utilizamos|tenemos)|dejamos de usar|não usamos mais|deixamos de usar|non usiamo più)\s(?:el\s|la\s|o\s|a\s)?(?P<old>THING)STOP"),
)  # fmt: skip
_NAME_CUE = make_regex(r"\s|[A-Z\d_./-]")
"""A single plain word ("file", "it") does not name anything specific."""
_ABSENT = make_regex(r"no(?: longer an?)?$", re.IGNORECASE)
"""The thing no longer exists: a plain word is enough for the only thing of its kind."""
_NO_THING = make_regex(
    r"^(?:than|from|by|working|to|the (?:file|folder|directory|line)|a |an |one |two |\d|\w+ing (?!for\b))",
    re.IGNORECASE,
)


def find(statement: Statement) -> Iterator[Claim]:
    """Yield what a statement says has ended."""
    if " in favour of " in statement.lowercase_text or " in favor of " in statement.lowercase_text:
        return  # what `rules.instead` understands
    for cues, pattern in _CESSATION_RULES:
        match = pattern.search(statement.text) if statement.mentions(cues) else None
        if match is None or not asserts(statement, *_both(match), match["cue"]):
            continue
        phrase = match["old"].strip()
        old = tidy(re.split(r"[:,]\s", phrase)[-1])
        if _NO_THING.match(phrase) or not is_thing(old) or not (_NAME_CUE.search(old) or _ABSENT.match(match["cue"])):
            continue
        owner = owner_of_deed(match["who"])
        yield claim(
            statement,
            "ended",
            "" if owner == "project" else owner,
            "stopped_using",
            old,
            old,
            extract_clause(statement, *_both(match)),
        )
        return


def _both(match: re.Match[str]) -> tuple[int, int]:
    """Return the span of the cue and of what ended."""
    return min(match.start("cue"), match.start("old")), max(match.end("cue"), match.end("old"))
