"""English words that a keyword query can omit.

The list is the one used for the LoCoMo measurements, plus the contractions. It has no word that is likely to be a name
or a thing: `may` is a month and `go` a language.
"""

from __future__ import annotations

_WORD_LIST = """
a about after am an and any are as at be been before being but by can could did do does doing during
for from had has have having he her hers him his how i if in into is it its me my not of on or our she
should so some such than that the their them then there these they this those to us was we were what
when where which while who whom whose why will with would you your  aren't can't couldn't didn't
doesn't don't hadn't hasn't haven't he'd he'll how's i'd i'll i'm i've  isn't it'll shouldn't they'd
they'll they're they've wasn't we'd we'll we're we've weren't what're  won't wouldn't you'd you'll
you're you've s t
"""

STOP_WORDS = frozenset(_WORD_LIST.split())
"""In lower case, with the straight apostrophe."""
