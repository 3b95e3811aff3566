"""Digest cues: how people and agents say that something is decided, postponed, requested or fixed.

Tables of words, applied by sentence. Pure. English, with the most frequent phrases of German, Japanese, French, Spanish
and Swedish.
"""

from __future__ import annotations

import re

from palazzo.text.lazy_patterns import make_regex


def _table(*alternatives: str) -> re.Pattern[str]:
    return make_regex("|".join(alternatives), re.IGNORECASE)


_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_LATER = (
    rf"(?:later|tonight|tomorrow|monday|this afternoon|this evening|another (?:day|time)|one day|some ?day"
    rf"|at some point|on {_DAY}|by {_DAY}|next"
    r" (?:week|month|quarter|year|time|sprint|release)|in (?:january|february|march|april|may|june|july|august"
    r"|september|october"
    r"|november|december)|after (?:the )?(?:release|launch|move|holidays?|weekend|standup|lunch|vacation))"
)

PUT_OFF = _table(
    rf"\b(?:i|we)(?:'ll| will|'d| have to| need to| want to| must|'m going to|'re going to| can"
    rf"| could)\b.{{0,90}}\b(?:{_LATER[3:-1]}|myself)\b",
    r"\bi(?:'ll| will) (?:ask|check|look|find out|talk|think|sleep|get back|tell|write to|call|ping|see|try|bring"
    r"|clarify|decide|order|open)\b",
    rf"\b(?:revisit|postpone|defer|come back to|get back to|look (?:at|into) (?:it|that|this)) .*|\b(?:let's"
    rf"|we) (?:do|leave|keep|move|talk about|look at|finish|discuss) .{{0,60}}\b(?:for )?{_LATER}\b",
    r"\b(?:let me|i have to|i need to|need to|want to) (?:sleep on|think about|look up|ask|talk to|check with"
    r"|discuss)\b",
    r"\b(?:a |its own |separate |another )?(?:ticket|issue|task|pr|pull request|story) (?:of its own|for (?:that|it)"
    r"|for another)\b|\bfollow[- ]?up\b",
    r"\b(?:not (?:now|today|this week|yet)|park (?:it|that)|another day|out of scope|on hold|for now we wait"
    r"|let's wait|remind me)\b",
    r"\bbefore we (?:try|do|start|go|ship|release|merge)\b|\bdepends on (?:what|whether|when)\b",
    r"\b(?:i|we)'ll \w+|\bi will \w+|^(?:todo|to-do|later|don't forget|remember to)\b|\b(?:can|has to|have to|must"
    r"|should) wait\b|\bwait(?:ing)? (?:for|until|till|with)\b"
    r"|\bnot before\b|\b(?:someone|somebody|(?-i:[A-Z][a-z]+)) (?:will|has to|needs to|must|should) (?:look|check"
    r"|decide|answer|review|approve|ask|confirm|test|do|sign|tell)\b"
    r"|\b(?:let's|we'll) see\b",
    r"\b(?:nächste[nrs]? (?:woche|monat|jahr)|morgen|heute nacht|heute abend|später|übermorgen|demnächst|klärt"
    r"|kläre ich|frage ich|schaue ich)\b",
    r"後で|あとで|来週|明日|今夜|確認して(?:みます|おきます)|検討し",
    r"\b(?:demain|plus tard|la semaine prochaine|mañana|más tarde|i morgon|nästa vecka|senare)\b",
)
"""A person postpones something, or commits to do it."""

REMAINING_WORK = _table(
    r"\bstill (?:shows?|uses?|says?|points?|reads?|contains?|depends?|holds?|links?|refers?)\b|\bi didn't look\b",
    r"^(?:left|still left|what is left|what's left|remaining|still open|open(?: questions?| points?| items?)?"
    r"|outstanding|still to do|to ?dos?"
    r"|next(?: steps?)?|not done(?: yet)?|follow[- ]?ups?|missing|offen|noch offen|restant|nicht erledigt|残り|未対応"
    r"|次)\s*(?::|：)",
    r"^(?:still )?open (?:is|are|remain|remains)\b|^offen (?:ist|sind|bleibt|bleiben)\b|\b(?:bleibt|ist|sind"
    r"|bleiben) noch offen\b|\bnoch nicht\b",
    r"\b(?:is|are|was|were|has|have|does|do|did|it|that|which) (?:still )?not (?:yet )?(?:been )?(?:found|known"
    r"|clear|solved|tested|covered|done|understood|explained|checked|deployed|merged|finished|implemented|measured"
    r"|migrated|fixed|released)\b",
    r"\b(?:isn't|aren't|hasn't been|haven't been|wasn't) (?:yet )?(?:found|known|clear|solved|tested|covered|done"
    r"|understood|explained|deployed|merged|finished|fixed|released)\b",
    r"\b(?:still|yet) (?:waiting|waits|open|missing|failing|fails|unclear|unknown|to be|to do|needs?|has to|have to"
    r"|must|pending|unsolved|broken|red)\b",
    r"\b(?:is|are) (?:missing|pending|waiting for|blocked|unsolved|unanswered|untested|undecided|still red)\b"
    r"|\b(?:waits?|waiting) for\b|\bblocked (?:on|by)\b",
    r"\b(?:not yet|nobody has|no one has|remains? (?:open|to be|unsolved|unclear)|unresolved|unclear why"
    r"|don't know (?:yet )?(?:why|where|whether|what|if))\b",
    r"\b(?:somebody|someone|you|we) (?:should|must|has to|have to|needs? to|still need)\b",
    r"\b(?:tell me|let me know|up to you|needs your|your (?:decision|call|answer)|i need (?:from you|your|to know))\b",
    r"\buntil .{2,40}, then\b|\bi(?:'ve| have)? (?:skipped|left out|left .{1,40} (?:out|for later|as (?:it|they)"
    r"|alone for))\b|\bcould not (?:be )?(?:test|verif|reproduc|check|reach)\w*",
    r"\b(?:i )?(?:couldn't|can't|could not|cannot) (?:test|verify|reproduce|check|measure)\b",
    r"\bi (?:have not|haven't|did not|didn't) (?:yet )?(?!chang|touch|find|see|need|want|know)\w+|\b(?:for now"
    r"|temporar\w+|workaround|stopgap|not included|not part of)\b"
    r"|\bremains?\b|\bi'll .{3,80}\b(?:when|once|after|tomorrow|later|next|as soon as)\b|\b(?:once"
    r"|as soon as) .{3,80}\b(?:i|we|you)(?:'ll| will| can)\b|\bhas to be\b|\bshould (?:also |still )be\b"
    r"|\bneeds (?:your|someone|somebody|an? (?:decision|review|answer|owner|ticket|test|look))\b|\b(?:ticket"
    r"|issue) (?:for|is open)\b",
    r"\b(?:fehlt noch|fehlen noch|steht noch aus|stehen noch aus|ungeklärt|wartet auf|warten auf|muss noch"
    r"|müssen noch|sollte noch)\b",
    r"まだ|未(?:実装|対応|確認|解決)|分かりません|必要があります",
)
"""An agent or a person says what remains to be done."""

TO_DO_HEADING = make_regex(
    r"^\W*(?:next steps?|to-?dos?|still (?:open|to do)|open(?: (?:questions?|points?|items?|ends))?"
    r"|remaining(?: work)?|left(?: to do)?|what(?:'s| is) left"
    r"|follow[- ]?ups?|outstanding|offene? punkte|offen|nächste schritte|残り|次のステップ)\W*$",
    re.IGNORECASE,
)
"""A line above a list of things to do."""

APPROVES = _table(
    r"^(?:ok|okay|okey|k|yes|yep|yeah|yup|sure|agreed|agree|fine|perfect|great|good|nice|right|exactly|correct"
    r"|absolutely|deal|\+1|👍|approved|makes sense"
    r"|sounds? (?:good|right|fine|great)|works for me|fine by me|go (?:ahead|with|for)|do (?:it|that|both|so)"
    r"|ship (?:it|both|that)|please do|let's (?:do|go)|as (?:proposed|you say)"
    r"|einverstanden|ja|genau|passt|gut|in ordnung|mach(?:en wir)?(?: das| es)? so|so machen wir|d'accord|oui|vale"
    r"|de acuerdo|va bene|kör på|はい|お願いします|それで|了解|いいですね)\b",
    r"^(?:はい|お願いします|それで|了解|いいですね|同意)",
)
"""Agrees to a proposal."""

CHOOSES = _table(
    r"^(?:(?:ok|okay|then|dann|so|let's|let us|we|i|i'd|go|take|use|nehmen wir|wir nehmen|and|hm+|ah"
    r"|well)[, ]+)*(?:say |go (?:with|for) |take |use |pick |do |option |variant[e]? |nummer |number |version )?"
    r"(?:the )?(?P<option>[A-Fa-f]|[1-9]|first|second|third|last|former|latter|both|one|two|three|erste|zweite"
    r"|dritte)(?: one| option)?(?: please| bitte|, please| then)?[.!,;:]?(?:\s|$)",
)
"""Chooses one of the offered options, captured in `option`."""

REFUSES = _table(
    r"^(?:no|nope|nah|nein|non|nej|いいえ|いや|hard no|absolutely not|rather not)(?:[,.!;:—–-]|\s(?!idea|clue|worries"
    r"|problem|need to worry|one knows|wonder|hits))",
    r", no\.?$|^not (?!sure|yet|now)\b|^(?:please )?(?:don't|do not) |^leave \w+ (?:alone|as)|^scrap (?:that|it)"
    r"|^(?:never ?mind|forget (?:it|that))",
)
"""Refuses something, or says what must not be done."""

RULES = _table(
    r"\b\w+ (?:yes|no), \w+ (?:yes|no)\b|\b\w+ (?:ja|nein), \w+ (?:ja|nein)\b",
    r"^decision\s*:|^(?:we )?(?:have )?decided\b|\b(?:we|i) (?:decided|chose|settled on|opted for|agreed (?:on|to"
    r"|that))\b",
    r"\b(?:from now on|going forward|as of now|frozen on|no exceptions|is (?:forbidden|mandatory|required) (?:here"
    r"|in this)|by default from)\b",
    r"^(?:please )?(?:never|always|do not|don't) (?!forget|worry|ask|change anything|know|think"
    r"|touch anything)\w+.*\b(?:anywhere|again|ever|in this|here|use|commit|deploy|merge|push|add|store|log)\b",
    r"\b(?:we|wir|let's|let us) (?:will |'ll )?(?:use|stay with|stick (?:to|with)|go with|keep|take|switch to"
    r"|move to|drop|nehmen|bleiben bei|verwenden|benutzen|setzen auf)\b",
    r"^(?:correction|remember(?: for later| this| that)?|note|rule|policy|convention)\s*:|^remember (?:that"
    r"|for later)\b",
    r"^(?:(?:still|wait|actually|instead|but|and|then|ok|okay|also|fine|no)[, ]+)*(?:make|give|set|keep|leave|take"
    r"|put|use|bring) (?:it|them|both|that|this) (?:\w+)|^(?:keep|leave) the \w+ \w+",
    r"(?:^|: )(?:back to|stay\b|keep|take it|revert to|zurück zu)\b",
    r"\bso we (?:say|use|do|keep|take)\b|\b(?:it is|it's) (?:\w+ )?then\b|\bdecides it\b|\b\w+ it is\b[.!]?$",
    r"\bmachen wir\b(?!.*(?:woche|morgen))|\bentschieden\b|\bwir (?:bleiben|nehmen|machen)\b"
    r"|にしましょう|に決め|でお願いします"
    r"|を使います|にします",
)
"""A person states a rule."""

KEEP_IT = _table(
    r"^(?:(?:and|so|ok|okay|also|now|then|but)[, ]+)*(?:(?:please|pls|kindly|do|you must|you should|always)[, ]+)*"
    r"(?:(?:can|could|would|will) you (?:please )?)?"
    r"(?:(?:remember|memori[sz]e|note|store|save|record|write)(?: (?:that|this|it|them|these|both))?"
    r"(?: (?:down|somewhere))?|(?:take|make) (?:a )?note(?: of (?:that|this|it|them|both))?"
    r"|(?:keep|bear) (?:(?:that|this|it|them|both) )?in mind|(?:don't|do not|never) forget(?: (?:that|this|it|them))?)"
    r"(?: (?:please|for later|for me|for (?:the )?(?:next|other|later|future) (?:time|sessions?)|from now on"
    r"|for the future|in (?:your )?memory|always|well))*\W*$",
    r"^(?:und )?(?:(?:bitte|das|dir|es) )*(?:merk\w*|notier\w*|behalt\w*|denk\w*)"
    r"(?: (?:dir|euch|das|dies|es|bitte|mal|dran|daran|im kopf|für später))*\W*$",
    r"^(?:(?:これ|それ)(?:を|は))?(?:覚えて(?:おいて)?|メモして(?:おいて)?|忘れないで)(?:ください|ね)?\W*$",
    r"^(?:s'il te plaît,? )?(?:souviens-toi de (?:ça|cela)|retiens (?:ça|cela|bien)|note (?:ça|cela))\W*$",
    r"^(?:por favor,? )?(?:recuérdalo|recuerda (?:esto|eso)|apúntalo|tenlo en cuenta|no lo olvides)\W*$",
    r"^(?:snälla )?(?:kom ihåg (?:det|detta|det här)|glöm inte (?:det|detta)|notera (?:det|detta))\W*$",
)
"""A person says that the previous statement must be kept, without repeating it."""

LAYS_DOWN = _table(
    r"\b(?:instead|rather|prefer\w*)\b|\b(?:must|has to|have to|shall|should) (?:always|never|stay|remain|not)\b"
    r"|\b(?:at|no) (?:most|least|more than|less than) \d|\b(?:stays?|remains?) (?:at|as|on|in|where|off|the)\b"
    r"|^(?:use|take|keep|drop|prefer|stick|stay|leave|limit|cap|go)\b|\b(?:wins|is enough|is fine|is plenty|it is)\b"
    r"|\bnot worth\b|, not \w+|^no \w+|^\w+(?: \w+){0,3} only\b",
    r"\blieber\b|\breicht\b|\bbleibt (?:bei|so|es)\b|\bnur (?:für|in|bei|die|das|der)\b|だけ(?:で|に)|のままで",
)
"""Like `RULES`, but less certain: used only for a person who continues after an agent's work and asks nothing."""

AGENT_DECIDES = _table(
    r"\bi (?:take|took|use|keep|go for|went for) .{2,60}\binstead\b|\b(?:i|we) (?:went|go) for\b",
    r"^decision\s*:|^decided\s*:|\bi(?:'ve| have)? (?:decided|chose|chosen|settled on|opted for|went with|picked"
    r"|switched to)\b|\bwe (?:decided|agreed|settled)\b",
    r"\bi (?:used|use|kept|keep|put|store|stored|made|named|went) .{3,80}\b(?:instead of|rather than|and not)\b",
    r"\bnow (?:live|lives|use|uses|expires?|follows?|defaults? to|goes through|go through|limited to)\b",
    r"\bi(?:'m| am) (?:going with|staying with|keeping)\b|\bi (?:went|stayed|stuck) with\b|\bso i (?:use|used|kept"
    r"|made|took|chose)\b|\bi (?:take|took) \w+ (?:over|because|since)\b|\bas (?:decided|agreed)\b"
    r"|\bi(?:'ll| will) (?:keep|use|leave|make|go with|stick (?:to|with)|store|name)\b|\bi make \w+ the default\b"
    r"|^(?:noted|understood|constraint recorded|recorded|agreed|settled|chosen)\s*:",
    r"^dann \w+ ich\b|\bhabe ich mich .{0,60}entschieden\b|\bich (?:nehme|verwende|bleibe bei)\b"
    r"|にしました|に決めました",
)
"""An agent says which option it chose, not only what it did."""

NOT_MEANT = _table(
    r"\b(?:what if|if (?:we|you|i)\b.{0,30}decid\w+|suppos(?:e|ing)|imagine|hypothetical\w*|thinking aloud"
    r"|just a thought|last (?:year|month|week|time)|years? ago|back then|used to|would have (?!to\b)|they decided"
    r"|previously|in the past|the team decided|in the (?:meeting|adr)|according to)\b",
    r"\bletztes jahr\b|\bdamals\b|\bwürde\w*\b|昨年|去年",
)
"""Hypothetical, or long ago: nothing that this session decides."""

PROPOSES = _table(
    r"\?[)\"'”»*_]*\s*$|\?\s|？",
    r"\b(?:i'd|i would|we could|you could|one could|i could|i can|could also|better to|i lean|i recommend"
    r"|recommendation|i suggest|i propose|proposal|options?|alternatives?|two ways|three ways|either|instead of"
    r"|should|shall|might"
    r"|candidates?|plan is|i'll|i will|let me)\b",
    r"\b(?:vorschlag|variante|möglichkeit\w*|zwei wege|am meisten brächte|ich würde|sollten?|entweder|könnten?"
    r"|dann \w+ ich|option\w*)\b|提案|どちら|しましょうか|ますか|案",
    r"^\s*(?:[A-D][.):]|\d[.)]) ",
)
"""Words of an agent that a person may answer."""

COMPARES = _table(
    r"\b(?:would|could|or|but|cheaper|simpler|faster|slower|costs?|trade-?offs?|versus|vs|while|whereas|aber"
    r"|dafür)\b"
)
"""Compares alternatives: it may be answered, although nothing is proposed."""

WITHDRAWS = _table(
    r"^(?:wait|actually|no wait|hm+,? actually|on second thoughts?|correction|scrap (?:that|it)|forget (?:that|it)"
    r"|sorry|doch nicht|moment|halt|instead|never ?mind|change of plan|やっぱり)\b",
    r"\b(?:scrap that|forget that|changed my mind|on second thoughts?|doch lieber|won't do\b|revert that|undo that)",
    r"^やっぱり|^いや",
)
"""A person withdraws an earlier statement."""

SMALL_TALK = _table(
    r"^(?:thanks|thank you|thx|ty|cheers|lol|haha\w*|wow|good (?:job|work|night|morning)|morning|hello|hi|hey|bye"
    r"|brb|danke|merci|gracias|tack|well done|awesome|:\)|🙏)\b[^?\w]*(?:\w+[^?\w]*){0,3}$",
    r"^(?:ありがとう|おつかれ)[^?？]{0,20}$",
    r"^(?:next|continue|go on|weiter|hm+|well|ah|oh|ok|okay|so)\W*$",
)
"""Thanks, greetings, laughter."""

GREETS = make_regex(
    r"^(?:hi|hello|hey|good (?:morning|evening)|hallo|moin|hej|やあ|こんにちは|salut|hola)\b", re.IGNORECASE
)

ASKS_FOR = _table(
    r"^(?:(?:ok|okay|so|and|now|next|then|also|hey|hi|please|bitte|kindly|alright|right|great|thanks|cool"
    r"|good)[,.!:]? +)*"
    r"(?:set|find|run|move|refactor|write|add|fix|make|create|implement|update|remove|rename|dump|show|explain|look"
    r"|check|summari[sz]e|build|test|deploy"
    r"|upgrade|investigate|clean|review|document|convert|generate|migrate|optimi[sz]e|print|list|delete|read|bring"
    r"|start|help|decide|design|draft|port|rewrite|replace"
    r"|change|extend|split|extract|compare|measure|profile|debug|analy[sz]e|prepare|reduce|translate|export|import"
    r"|install|configure|drop|go through|walk|describe|search|give me|tell me|schreib\w*|mach|bau\w*|prüf\w*|zeig\w*"
    r"|erklär\w*)\b(?! (?:it|that) (?:\d|so)\b)",
    r"\b(?:can|could|would|will) you\b|\bi(?:'d| would) like (?:you )?to\b|\bi want (?:you )?to\b|\bwe (?:need"
    r"|have to|must)\b|\bplease \w+ \w+|\bkan du\b|\bkannst du\b|\bkönntest du\b|\bbitte\b|\bvi behöver\b"
    r"|\bpeux-tu\b|\bpuedes\b|\bmüssen wir\b",
    r"ください|してほしい|お願い|てくれ",
)
WISHES = make_regex(rf"{ASKS_FOR.pattern}|\bi(?:'d| would) like\b|\bi want\b", re.IGNORECASE)
"""Asks for something, or says what the speaker would like."""

CHOICE = _table(
    r"\bor\b.*\?",
    r"\b(?:which|what) (?:of|one|database|library|framework|format|way|option)\b.*\?",
    r"\boder\b.*\?",
    r"それとも|どちら|どっち",
)
"""Asks which of several options to choose."""

ASKS_BACK = _table(
    r"^(?:can|could|couldn't|can't) we (?:just|not)\b|^(?:why|how) not\b|^what about\b|^(?:isn't|aren't|wouldn't"
    r"|doesn't|is|are) (?:that|this|it|there)\b|^(?:want|shall|should|do you want) (?:me|i)\b|^really\b|^(?:any"
    r"|which) (?:idea|one)\b|^how (?:much|many|long)\b"
)
"""A question about the answer, not a new question."""

UNSURE = _table(r"\bno (?:idea|clue)\b|\b(?:don't|do not) know\b|\bnot sure\b|\bkeine ahnung\b|わかりません")

QUESTION = make_regex(r"[?？][)\"'”»*_\s]*(?:$|[🙏🙂😀-🙏])")

MENDS = _table(
    r"\b(?:fixed|mended|solved|resolved|repaired|cured|behoben|repariert|gefixt|gelöst|åtgärdat)\b|直りました|修正しました|解決しました",
    r"\bi (?:have )?(?:switched|changed|added|moved|replaced|set|pinned|rebuilt|made|keep|kept|raised|removed|strip"
    r"|stripped|quoted|use|put|wrapped|escaped|renamed|installed|updated|bumped) ",
    r"\b(?:passes|pass|runs|run|works|work|is|are|succeeds|green|builds|build|starts|start|stays)\b.{0,60}\b(?:now"
    r"|again)\b|\b(?:now|jetzt) (?:passes|pass|runs|works|builds|starts|läuft|geht)\b|\bnow\b|\bjetzt\b|\bwieder\b",
    r"\b(?:no more|no longer|gone|back up|up again|clean|stable|succeeds|succeeded|passed|green|the fix|the (?:cause"
    r"|reason|culprit|problem) (?:is|was)|(?:was|were) (?:missing|wrong|the cause))\b",
    r"\bwent from \d|\b(?:went|is|are) (?:down|back|gone)\b|ようになりました|になりました|通りました",
)
"""Says that something works, or what was done to make it work."""

FAILS_STILL = _table(
    r"\b(?:still|not it|not all of it|didn't help|did not help|no better|same error|again fails|fails again"
    r"|not found|doesn't|does not|cannot|can't|immer noch|nicht)\b",
    r"まだ|ません$",
)
