"""Intent patterns: patterns and words with which `intent.py` recognises questions about the past. Tables, no logic."""

from __future__ import annotations

import re

from palazzo.text.lazy_patterns import make_regex


def _join_alternatives(*words: str) -> str:
    return "(?:" + "|".join(words) + ")"


# --- the words of asking -----------------------------------------------------------------------------------

_ABOUT_US = _join_alternatives("we", "we'd", "we've", r"(?:the|our) team")
_NOW_AND_THEN = r"(?:\s+(?:ever|already|not|even|just|last|finally|really|exactly|once|actually))*"
_SPOKE = _join_alternatives(
    r"decid\w+", r"discuss\w*", r"talk\w*", r"sa(?:y|id)", r"agree\w*", r"conclud\w+", r"settle\w*", r"plan(?:ned)?",
    r"promis\w+", r"estimat\w+", r"not(?:e|ed)", r"wr(?:i|o)te", r"written", r"list\w*", r"document\w*", r"mention\w*",
    r"sketch\w*", r"propos\w+", r"suggest\w*", r"explain\w*", r"tell", r"told", r"recommend\w*",
)  # fmt: skip
_DID = _join_alternatives(
    r"cho(?:o?se|sen)", r"pick\w*", r"go", r"went", r"gone", r"adopt\w*", r"prefer\w*", r"reject\w*", r"consider\w*",
    r"weigh\w*", r"compar\w+", r"learn\w*", r"f(?:i|ou)nd", r"tr(?:y|ied)", r"attempt\w*", r"fix\w*", r"solve\w*",
    r"resolve\w*", r"chang\w+", r"remov\w+", r"dr[ao]p\w*", r"switch\w*", r"mov\w+", r"add\w*", r"us\w+", r"end\w*",
    r"keep", r"kept", r"leave", r"left", r"stop\w*", r"start\w*", r"finish\w*", r"put", r"set", r"standardi[sz]\w+",
    r"upgrad\w+", r"revert\w*", r"postpon\w+", r"measur\w+", r"test\w*", r"call\w*", r"nam\w+", r"make", r"made",
    r"look\w*", r"rename\w*", r"build", r"built", r"create\w*", r"draw", r"drew", r"bump\w*", r"see", r"saw", r"seen",
    r"run", r"ran", r"hit", r"have", r"had", r"get", r"got", r"want\w*", r"need\w*", r"do", r"done", r"replac\w+", r"introduc\w+",
    r"blocked", r"work\w*", r"need\w*", r"deploy\w*", r"migrat\w+", r"split", r"merge\w*", r"ship\w*", r"pin\w*",
)  # fmt: skip
_TIME_PHRASES = _join_alternatives(
    r"last (?:time|week|month|year|session|sprint|night|(?:mon|tues|wednes|thurs|fri|satur|sun)day)",
    r"yesterday",
    r"the other day",
    r"(?:a|some|long) (?:while|time|few (?:days|weeks|months)) ago",
    r"\w+ (?:days|weeks|months|sessions) ago",
    r"(?:in|during|from) (?:our|the|an?|my) (?:last|previous|earlier|former|past) "
    r"(?:session|conversation|chat|discussion|meeting)s?",
    r"on (?:mon|tues|wednes|thurs|fri|satur|sun)day",
    r"before the weekend",
    r"this (?:morning|week)",
    r"earlier",
    r"previously",
    r"before",
    r"once",
)
_BEGINS = r"(?:^|[.!?,;:]\s*|\b(?:ok|okay|so|now|please|let's|let us|can we|can you|could you|i want to|i'd like to|we should|and)\s+)"
_QUESTION = r"(?:what|which|where|when|who|whom|why|how)"
_MATTER = _join_alternatives(
    "approach", "decision", "plan", "conclusion", "reason", "rationale", "motivation", "outcome", "verdict", "root cause",
    "workaround", "convention", "policy", "rules?", "style", "status", "history", "background", "idea", "threshold",
    "results?", "agreement", "preferences?", "strategy", "stance", "position", "argument", "open questions?",
    "next steps", "cause", "setting", "constraint", "goal", "budget", "deadline", "contract", "limit",
)  # fmt: skip
_ON = r"(?:to|on|for|behind|of|about|regarding|concerning|with|in|when|against|at|we)"

# --- what asks ---------------------------------------------------------------------------------------------

ASKS = tuple(
    make_regex(pattern, re.IGNORECASE)
    for pattern in (
        # what did we decide about …, why did we choose …, where had we put …
        rf"\b{_QUESTION}\b[^.?!]{{0,60}}?\b(?:did|had|have|do)\s+{_ABOUT_US}{_NOW_AND_THEN}\s+(?:{_SPOKE}|{_DID})\b",
        f"\\b{_QUESTION}\\b[^.?!]{{0,40}}?\\b{_ABOUT_US}{_NOW_AND_THEN}\\s+(?:{_SPOKE}|came|chose|picked|settled|went|ended|used|left|stopped)\\b",
        # what were we blocked on, where were we with, what was I working on
        r"\b(?:what|where)\s+(?:was|were)\s+(?:we|i)\b(?!\s+(?:supposed|going))",
        # did we already …, didn't we decide …, have we ever looked into …
        rf"\b(?:did|didn't|have|haven't|had|hadn't)\s+{_ABOUT_US}{_NOW_AND_THEN}\s+(?:{_SPOKE}|{_DID})\b",
        r"\b(?:weren't|wasn't)\s+(?:we|the plan|the idea|it decided|that decided)\b",
        r"\bare we still\b[^.?!]*\b(?:decided|agreed|going with|planned|discussed|using)\b",
        # we said …, we had this before, I know we fixed this once
        f"\\b{_ABOUT_US}{_NOW_AND_THEN}\\s+(?:said|agreed|decided|concluded|settled|talked "
        "about|discussed|listed|sketched|wrote down)\\b",
        r"\b(?:we've|we have|we had|we|i|you|this|that|it|i've|i think we)\b[^.?!,]{0,50}\b(?:seen|had|met|hit|ran into|run into|came up|solved|fixed|did)\b[^.?!]{0,60}\b(?:before|already|once|last time)\b",
        # last time we …, yesterday you …, in an earlier conversation we …
        f"\\b{_TIME_PHRASES},?\\s+(?:we|i|you)\\b(?!\\s+(?:checked|can|could|should|must|need|have "
        "to|start|begin|run|commit))",
        f"\\b(?:we|you|i)\\s+(?:{_SPOKE}|{_DID})\\b[^.?!]{{0,60}}\\b{_join_alternatives('last time', 'last week', 'last month', 'yesterday', 'the other day', 'last session', 'in the last session', 'some time ago', 'a while ago')}\\b",
        rf"\b{_QUESTION}\b[^.?!]{{0,70}}\b(?:last time|last session|from before|the other day)\b",
        r"\bwhat(?:'s| is| has| have)?\b[^.?!]{0,30}\bsince (?:our|the|my) last (?:session|time|conversation)\b",
        # do you remember …, remind me …, refresh my memory
        r"\bdo(?:n't)? you (?:still )?(?:remember|recall)\b",
        r"\bdidn't you (?:say|tell|mention|suggest|decide|already)\b",
        r"\bour\b[^.?!]{2,60}\bagain\b|\bwe (?:once )?wrote (?:it|that|them) down\b",
        r"\bwhich\b[^.?!]{1,40}\bwas it\b",
        r"\b(?:when|since) we (?:last|first)\b|\bwhen we (?:tested|measured|tried|compared|ran|deployed|benchmarked)\b",
        r"\b(?:can|could|would) you (?:please )?(?:recall|remember|remind|look back|look up what we)\b",
        r"\bremind me\b(?!\s+(?:to|in|at|later|tomorrow|tonight|again later)\b)",
        r"\b(?:quick )?reminder:\s*\w+",
        r"(?:^|[,;:]\s*)(?:please\s+)?recall (?:our|the|what|how|why|that)\b",
        r"\b(?:refresh|jog) my memory\b|\bfrom memory\b",
        r"\bi (?:forgot|forget|can't remember|don't remember|can't recall|don't recall)\s+(?:what|how|why|which|where|when|who|if|whether)\b",
        r"\bi remember (?:we|you|that we|that you)\b",
        r"\bnot sure (?:any ?more |anymore )?(?:what|which|how|why|where|if|whether) we\b",
        # what do we know about …, check your memory for …
        r"\bwhat (?:do|have) (?:you|we) (?:know|have|got|stored|saved|noted|learned|learnt)\b[^.?!]{0,20}\b(?:about|on|of|regarding)\b",
        r"\bwhat (?:did|do|have) you (?:save|store|note|keep|record|remember|saved|stored|noted|kept|recorded)\b",
        r"\beverything (?:we|you) (?:know|have)\b",
        r"\b(?:check|search|look in|look into|look through|query) (?:your |the |our )?(?:memory|notes|diary|diaries|past sessions) (?:for|about|on)\b",
        r"\b(?:is|was) there (?:anything|something|a (?:note|decision|plan|conclusion|reason|record)|any (?:note|decision|record)s?)\b[^.?!]{0,40}\b(?:(?:memory|notes) (?:about|on|of|for)|on|about|for|behind)\b",
        r"\b(?:do|did) we have (?:any )?(?:notes?|records?|a (?:decision|plan|policy|convention))\b",
        r"\b(?:bring|get) me up to speed\b|\bcatch me up\b|\bgive me the context\b|\bsummari[sz]e what we\b",
        r"\b(?:summary|overview|list) of (?:our|the) (?:\w+ )?(?:decisions|discussions|agreements)\b",
        r"\blook (?:up|back at) what we\b",
        # what is our approach to …, what was the reason for …
        rf"\bwhat(?:'s|'re| is| are)?\s+our\s+(?:\w+\s+)?{_MATTER}\b\s+{_ON}\b",
        "\\bwhat(?:'s| "
        f"is)?\\s+the\\s+(?:current\\s+|agreed\\s+)?{_join_alternatives('approach', 'decision', 'plan', 'verdict', 'conclusion', 'history', 'background', 'rationale', 'status')}\\s+{_ON}\\b",
        f"\\bwhat\\s+(?:was|were)\\s+(?:the|our|that|my|your|\\w+'s)\\s+(?:\\w+\\s+){{0,3}}?(?:{_MATTER}|objection|instructions?|advice)\\b(?:\\s+{_ON}\\b|\\s*$|[?,.\\s])",
        rf"\bwhat\s+was\s+(?:the|that)\s+[^.?!]{{2,60}}?\b(?:we|you|i)\s+(?:{_SPOKE}|{_DID})\b",
        r"\bwhat was (?:the|that) (?:name|command|flag|number|ticket|link|url|port|version|setting|\w+ called)\b[^.?!]{0,50}(?:\bwe\b|\bagain\b|\blast time\b|\bcalled that\b)",
        r"\bwhat(?:'s| are| is)?\s+(?:my|the user's)\s+(?:preferences?|previous|earlier)\b",
        r"\bwhat (?:exactly )?was (?:agreed|decided|concluded|discussed|said|rejected|promised|left)\b",
        r"\bwhich\b[^.?!]{1,50}\bwas (?:chosen|picked|rejected|decided|agreed|preferred|it that)\b",
        r"\bwhat's left (?:from|of|to do)\b[^.?!]*\b(?:our|we|list)\b",
        r"\bwhat(?:'s| is) the status of\b[^.?!]*\bwe\b",
        r"\bwhat (?:came out of|turned out|happened (?:with|to)|broke when|motivated)\b",
        r"\bwhy\s+(?:was|were|is|are|do|does|did)\s+[^.?!]{2,60}\b(?:removed|dropped|postponed|disabled|rejected|reverted|chosen|abandoned|delayed|deprecated)\b",
        r"\bwhy (?:do|did|had|have|on earth did) we\b|\bwhy we (?:ever )?(?:added|chose|use|used|need|went|dropped|removed|decided|picked|have|moved|switched)\b",
        r"\bwhat did (?-i:[A-Z][a-z]+|legal|the customer|marketing|design|ops|security)\b[^.?!]{0,20}\b(?:say|want|decide|object|ask|suggest|propose|think)\b",
        r"\bwho (?:said|decided|proposed|suggested|asked for|wanted|chose)\b",
        r"\b(?:you|i) (?:told|asked|explained|suggested|mentioned|gave|fixed|changed|showed)\b[^.?!]{0,80}?(?:\b(?:last|yesterday|the other day|ago|before|earlier|in mind)\b|,\s*(?:what|which|how|why|where))",
        r"\b(?:earlier|previously|before) (?:i|you) (?:mentioned|said|told|asked|explained)\b",
        r"\b(?:explain|tell me) again (?:why|how|what|where|which)\b|\bonce more, (?:what|why|how|which)\b",
        r"\bwhat (?:port|version|size|name|value|flag|seed|command|setting|library|format|model|tool)\b[^.?!]{0,20}\b(?:did|had|have) (?:we|i|you)\b",
        # going on
        rf"{_BEGINS}(?:continue|carry on|go on|proceed)\s+(?:working\s+)?(?:with|on|from|where)\b",
        rf"{_BEGINS}(?:resume|pick)\s+(?:work(?:ing)?\s+)?(?:up\s+)?(?:with|on|from|where|the|our|work)\b",
        rf"{_BEGINS}(?:go |get )?back to (?:the|that|our|this)\b",
        # as it was before
        r"\bas (?:we )?(?:already |previously )?(?:discussed|agreed|decided|planned)\b(?!\s+(?:in|by|with) the (?:docstring|readme|spec|comment|issue|docs|ticket))",
        r"\b(?:per|based on|given|according to|in line with|following|using|consistent with)\s+(?:our|what we|the approach we|the (?:pattern|convention|plan|template) we)\b",
        r"\b(?:the )?(?:pattern|convention|approach|template|plan|fix|way|setup|process) (?:that )?we (?:agreed|decided|used|made|took|usually|always|did|settled|adopted)\b",
        r"\b(?:same|again)\b[^.?!]{0,40}\b(?:as|like|way) (?:last (?:time|week|month)|we did|before|you did last)\b",
        r"\bwhat you did last (?:time|week|month|session)\b|\b(?:like|as) we did (?:before|last|in|for)\b|\bthe way we (?:usually|always|normally)\b",
        r"\baccording to our\b",
        r"\bdid we (?:ever|already)\b",
    )
)

# --- what does not, although it sounds like it -------------------------------------------------------------

NEVER = make_regex(
    r"\b(?:my name|who i am)\b|\b(?:remember|know about) me\b|\bwhat (?:did|do|shall|should) we (?:eat|drink|do now|watch|play)\b"
    r"|\b(?:eat|ate|lunch|dinner|breakfast|sun was)\b"
    r"|\bdecided nothing\b|\bnothing yet\b"
    r"|\b(?:forget|nevermind|never mind) (?:it|that|what)\b|\bdon't remember this\b"
    r"|\b(?:translate|fix the grammar|proofread|rephrase|write (?:a|an|me)|titled|generate a|user story|implement (?:a|an|session|the)|"
    r"add (?:a|an) (?:\"|'|field|docs|page|faq|checkbox)|create an? (?:adr|template))\b"
    r"|\b(?:your|best|good|right) approach\b|\byou (?:just|here)\b|\bdid you just\b|\b(?:in|from) this (?:file|comment|function|session)\b",
    re.IGNORECASE,
)
AT_HAND = make_regex(
    r"^\W*(?:please\s+|ok(?:ay)?,?\s+|now\s+)?(?:continue|resume|go on|carry on|proceed|keep going|pick up|go back|back|move)\b[^.?!]*?"
    r"(?:\b(?:next|step|steps|loop|start|beginning|top|line|previous|last|position|commit|you stopped|main branch|master)\b"
    r"\W*(?:\w+\W*){0,3}|\b(?:here|it|this|that|to work|files?)\b\W*)$",
    re.IGNORECASE,
)
WHOLE = make_regex(
    r"\bwhat (?:did we (?:do|work on|get done)|have we (?:done|worked on)|was i working on|were we (?:doing|working on))\b"
    r"[^.?!]{0,25}\b(?:last|previous|yesterday|weekend|week|session|today|before)\b",
    re.IGNORECASE,
)

# --- the topic ---------------------------------------------------------------------------------------------

PHRASES = make_regex(
    r"\b(?:refresh|jog) my memory\b|\b(?:(?:check|search|look in) )?(?:your|my|the|from|in) memory\b|\blook (?:up|back|into)\b",
    re.IGNORECASE,
)
OF_ASKING = frozenset(
    """we our us i you me my your they ok okay so hey btw please quick let's lets just now again already once ever even
    still really exactly actually finally long while time last previous previously earlier before yesterday ago week
    month session sessions conversation chat discussion discussions day other monday tuesday wednesday thursday friday
    saturday sunday morning weekend remember recall remind reminder reminded forgot know knew known
    tell told say said saying talk talked decide decided decides decision decisions discuss discussed agree agreed
    conclude concluded conclusion choose chose chosen pick picked settle settled go went gone going end ended ending
    come came get got find found out left leave off stop stopped continue resume carry proceed work working worked
    worked back want wanted wonder sure any anymore more looked note notes noted written write wrote
    saved stored save store mentioned mention asked ask explain explained suggested suggest idea reason reasons
    rationale approach plan outcome verdict summary summarize summarise everything anything something status history
    background context thing things did done do does doing make made use used using set put was were is are be been had
    has have having learn learned learnt try tried same way usual usually always follow following apply repeat according
    per based given line keep kept like up down over why what which where when who how whose that this these those there
    here not no yes right wasn't weren't didn't haven't can't don't what's that's it's we've we'd i've i'm ve seen think thought
    speed catch bring give show regarding about concerning sometime new one ones exact kind sort new turned happened next steps need needed
    could would should must shall will also too then than but and or if as at by for from in into of on onto to with
    without""".split()
)
