"""Quoted, pasted and fenced stretches of a person's message: words that stand in it and that somebody else wrote. Pure.

Rules look at lines. They prefer to take too much for quoted: the person's words then count for less, while a stranger's
never count as the person's. A block counts as the person's own where the lines before it say so ("my own ticket says:").

    fence     ``` and ~~~ blocks, closed or not; <details>, <blockquote>, <document> and the like
    quote     lines with `>`, and those that follow without a blank line
    mail      from headers, a forwarding line or "On … wrote:" to the end of the message; also fields of a ticket
    chat      lines of several speakers
    log       lines with a time or a level, output under a shell's prompt, blame, stack traces
    pasted    what a host marks as pasted; what follows "the vendor writes:"
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

QuoteKind = Literal["fence", "quote", "mail", "chat", "log", "pasted", "code"]


class Quotation(NamedTuple):
    """A stretch that is not the person's statement: where it stands, and what it looks like.

    `code` is program text, a diff or a test's output: quoted like the rest, but it rarely speaks to anybody.
    """

    start: int
    end: int
    kind: QuoteKind


_LONGEST_LINE = 2_000
"""Characters of a line that the rules look at."""
_LOOKED_AHEAD = 12
"""Lines that are looked at to see whether people speak in turn: bounds the time that a long list takes."""


class _Line(NamedTuple):
    start: int
    end: int
    text: str


# --- forms of lines ----------------------------------------------------------------------------------------

_FENCE = re.compile(r"^[ \t]{0,8}(?:[-*+] {1,3})?(?P<mark>`{3,}|~{3,})(?P<language>[^`\n]{0,80})$")
_TAG = re.compile(
    r"^\s{0,8}<(?P<name>details|blockquote|document|documents|attachment|file|paste|pasted|pasted[-_]text|quote|email"
    r"|mail|issue|context|log|output|message|conversation|transcript)\b[^>\n]{0,400}>",
    re.IGNORECASE,
)
_PASTED = re.compile(
    r"^\s{0,8}\[(?:Pasted text|Pasted content|Pasted|Attachment|Attached file|Clipboard)\b[^\]\n]{0,120}\]", re.I
)
_QUOTE = re.compile(r"^\s{0,8}(?:>|»|❯|&gt;|┃|▎)")
_MAIL_FIELDS = (
    "from|to|cc|bcc|sent|date|subject|reply-to|message-id|message|mime-version|content-type|received|return-path"
    "|delivered-to|in-reply-to|references|x-[a-z-]{1,40}|list-id"
    "|von|an|gesendet|datum|betreff|kopie|antwort an"
    "|de|à|objet|envoyé|date d'envoi|para|asunto|fecha|enviado|enviado el|assunto|data|da|oggetto|inviato"
    "|van|aan|onderwerp|verzonden|od|do|temat|wysłano|från|till|ämne|skickat|fra|til|emne|kimden|kime|konu|tarih"
    "|от|кому|тема|дата|отправлено|від|发件人|收件人|主题|日期|抄送|寄件者|主旨|差出人|宛先|件名|送信日時"
    "|보낸 ?사람|받는 ?사람|제목|날짜"
)
_TICKET_FIELDS = (
    "title|author|reporter|reported by|opened by|assignee|labels?|status|state|priority|severity|component|milestone"
    "|description|summary|body|issue|ticket|key|type|created|updated|environment|affects versions?|fix versions?"
    "|steps to reproduce|expected(?: behaviou?r| result)?|actual(?: behaviou?r| result)?|reviewer|commenter|comment"
    "|titel|autor|melder|beschreibung|titre|auteur|título|autor|descripción|автор|описание|заголовок|标题|作者|描述"
)
_MAIL_FIELD = re.compile(rf"^\s{{0,4}}(?:\*\*)?(?:{_MAIL_FIELDS})(?:\*\*)?\s?[:：]", re.IGNORECASE)
_TICKET_FIELD = re.compile(rf"^\s{{0,4}}(?:[#*]{{1,4}} ?)?(?:{_TICKET_FIELDS})(?:\*\*)?\s?[:：]", re.IGNORECASE)
_FORWARDS = re.compile(
    r"^\s{0,8}(?:-{2,}|_{4,}|={2,})?\s?(?:forwarded message|original message|begin forwarded message"
    r"|ursprüngliche nachricht|weitergeleitete nachricht|message transféré|message d'origine|mensaje reenviado"
    r"|mensaje original|mensagem original|messaggio inoltrato|messaggio originale|пересылаемое сообщение"
    r"|исходное сообщение|doorgestuurd bericht|wiadomość przekazana|原始邮件|转发的邮件|転送メッセージ|원본 메시지)\b",
    re.IGNORECASE,
)
_WROTE = re.compile(
    r"^\s{0,8}(?:On\b[^\n]{4,200}\bwrote|Am\b[^\n]{4,200}\bschrieb[^\n]{0,80}|Le\b[^\n]{4,200}\ba écrit"
    r"|El\b[^\n]{4,200}\bescribió|Em\b[^\n]{4,200}\bescreveu|Il\b[^\n]{4,200}\bha scritto"
    r"|Op\b[^\n]{4,200}\bschreef[^\n]{0,80}"
    r"|W dniu\b[^\n]{4,200}\bnapisał[^\n]{0,80}|\d[^\n]{4,200}\bнаписал[^\n]{0,80}|[^\n]{4,200}\byazdı)\s?[:：]\s*$"
)
_TRACKER = re.compile(
    r"\b(?:opened this issue|opened this pull request|commented (?:on|\d)|\d+ comments?\s*$|reported by @"
    r"|assigned to @"
    r"|requested changes|left a comment|added the .{1,40} label)",
    re.IGNORECASE,
)
_TIME = r"\d{1,2}[:.h]\d{2}(?:[:.]\d{2})?(?:[.,]\d{1,9})?(?: ?[AaPp]\.?[Mm]\.?)?"
_DAY = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{2,4})?|[A-Z][a-z]{2}\.? {1,2}\d{1,2})"
_NAME = r"[^\W\d_][\w.'’@ -]{0,38}"
_SPEAKER_WITH_TIME = re.compile(
    rf"^\s{{0,4}}(?:[\[(]?(?:{_DAY}[,T ]{{1,3}})?{_TIME}[\])]?\s{{0,3}}[-–—]?\s{{0,3}}(?![a-z]+ )<?@?{_NAME}>?\s?[:：]"
    rf"|<?@?{_NAME}>?\s{{1,4}}[\[(]?(?:{_DAY}[,T ]{{1,3}})?{_TIME}[\])]?\s?(?:[:：]|$))"
)
_SPEAKER_IN_BRACKETS = re.compile(rf"^\s{{0,4}}(?:<@?{_NAME}>|\[@?{_NAME}\]|@[\w.-]{{2,40}}:)\s")
_ROLE = re.compile(
    r"^\s{0,4}(?:\*\*|##? )?(?:user|human|assistant|system|ai|bot|chatgpt|claude|gemini|copilot|developer|agent"
    r"|model|customer"
    r"|client|support|operator|moderator|caller|interviewer|nutzer|benutzer|assistent|kunde|kundin|utilisateur"
    r"|usuario"
    r"|cliente|пользователь|ассистент|клиент|用户|助手|ユーザー|アシスタント|사용자)(?:\*\*)?\s?(?:[:：]|>)",
    re.IGNORECASE,
)
_SPEAKER = re.compile(rf"^\s{{0,4}}(?:\*\*)?(?P<name>@?{_NAME}?)(?:\*\*)?[:：]\s{{1,3}}\S")
_LOG = re.compile(
    rf"^\s{{0,8}}(?:[\[(<]?{_DAY}(?:[T ,]{{1,3}}|\s){_TIME}|[\[(]?{_TIME}[\])]?\s"
    r"|\[?(?:ERROR|ERR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL|NOTICE|CRITICAL|SEVERE)\b[\]:]?"
    r"|(?:npm|yarn|pnpm) (?:warn|err|info|notice|WARN|ERR|error)\b|[\w.-]{1,60}[-_]\d{1,3}\s{2,12}\|\s"
    r"|\{\"[\w@.-]{1,40}\"\s?:.{0,1900}\}\s*$|[\w./-]{1,60}\[\d{1,8}\]:|\d{10,13}(?:\.\d+)?\s"
    r"|\^?[0-9a-f]{4,40} \([^()\n]{3,80}\d{4}-\d\d-\d\d|\^?[0-9a-f]{7,40} (?:\(|\[|refs/)|(?:#\d{1,3}|=>) \[?\w"
    r"|exited with code \d|[\w.-]{1,60} exited with code \d)"
)
_PROMPT = re.compile(
    r"^\s{0,4}(?:\$ |# (?=[a-z]{2,}\b)|% |PS [A-Z]:|>>> |\w{1,32}@[\w.-]{1,60}[:~ ].{0,80}[$#%] |[A-Z]:\\.{0,120}> )"
)
_CODE = re.compile(
    r"^\s{0,200}(?:Traceback \(most recent call last\)|File \"[^\"\n]{1,300}\", line \d|at [\w$.<>]{1,200}\s?\("
    r"|diff --git |index [0-9a-f]{6,}"
    r"|@@ -\d|[+-]{3} [ab/]|(?:E {1,4}|FAILED|PASSED|ERROR)\s[\w./:\[\]-]{3,}|(?:not )?ok \d"
    r"|[\w./-]{1,200}::[\w:\[\]. -]{1,200}\s(?:PASSED|FAILED|ERROR|SKIPPED)"
    r"|error(?:\[\w+\]|:)|panic:|goroutine \d|Caused by:|\w{1,80}(?:Error|Exception): |Process exited with code \d)"
)
_MARKUP = re.compile(
    r"^\s{0,40}<(?:!doctype|!--|\?xml|/?(?:html|head|body|p|div|span|h[1-6]|ul|ol|li|table|tr|td|a|br|img|script|style|meta|title|form)\b)",
    re.I,
)

_CODE_LANGUAGES = frozenset(
    (
        *("py", "python", "js", "javascript", "ts", "typescript", "tsx", "jsx", "go", "rust", "rs", "c", "cpp", "c++"),
        *(
            "h",
            "java",
            "kotlin",
            "kt",
            "swift",
            "ruby",
            "rb",
            "php",
            "sql",
            "diff",
            "patch",
            "css",
            "scss",
            "lua",
            "zig",
        ),
        *("scala", "haskell", "hs", "elixir", "ex", "erlang", "dart", "r", "julia", "cs", "csharp", "vue", "svelte"),
        *("makefile", "cmake", "proto", "graphql", "hcl", "terraform", "nix", "asm", "wasm", "pytb", "traceback"),
    )
)
_CODE_SIGN = re.compile(
    r"[{};]\s*$|^\s*(?:def|class|func|fn|import|from|return|const|let|var|if|for|while|#include|package)\b|=>|\w\(|^\s*[\w.]+\s?=\s?\S"
)

# --- what a person says of a block ---------------------------------------------------------------------------

_OWN = re.compile(
    r"\b(?:my own|our own|mine\b|i (?:wrote|drafted|typed|made|decided|authored)\b|i(?:'ve| have) written"
    r"|written by me"
    r"|(?:these|those|here|this|that|following) (?:are|is) (?:my|our|mine|ours)\b|here(?:'s| is) (?:my|our) "
    r"|how we want it|as i (?:said|wrote)"
    r"|my (?:rules?|policy|policies|spec|specs|specification|code|script|snippet|draft|text|ticket|decision"
    r"|decisions|answer"
    r"|plan|wording|message|schema|notes?|requirements?|conventions?|thesis|config|editor|words)\b"
    r"|our (?:rules?|policy|policies|spec|decision|decisions|conventions?|style guide|requirements?)\b"
    r"|exactly (?:this|these|the following)|the following rules)",
    re.IGNORECASE,
)
_OWN_ELSEWHERE = re.compile(
    r"\b(?:mein(?:e|en|em|er)? (?:eigene[nrsm]?|regeln?|text|ticket|entwurf|code|notizen?|plan|vorgaben?)|von mir\b"
    r"|(?:habe|hab) ich (?:\w+ ){0,3}geschrieben|unsere (?:regeln?|vorgaben?)|genau (?:das|diesen text)"
    r"|mon propre|ma propre|mes (?:règles|notes)|j'ai (?:écrit|rédigé|décidé)|c'est de moi|nos règles"
    r"|mi propi[oa]|mis (?:reglas|notas)|lo escribí|es mío|nuestras reglas|meu próprio|minhas regras|eu escrevi"
    r"|le mie regole|l'ho scritto io|mijn eigen|onze regels|moje (?:zasady|własne)"
    r"|мои правила|мой (?:собственный|текст|тикет)|я (?:сам )?написал)"
    r"|我(?:自己)?写的|我的(?:规则|代码|笔记)|自分で書いた|私の(?:ルール|メモ)|내가 쓴|제가 쓴|benim (?:kurallarım|kendi)",
    re.IGNORECASE,
)
_DISOWNS = re.compile(
    r"\b(?:never|not|didn't|did not|don't|nobody|isn't|wasn't|nicht|nie|kein\w*|jamais|n'ai pas|no|nunca|не)\b"
    r"[^.!?\n]{0,24}\b(?:wrote|write|written|mine|my|ours?|said|say|approved?|decided?|geschrieben|von mir|écrit"
    r"|escrib\w+|писал\w*)\b",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(
    r"\b(?:says?|said|wrote|writes|written|posted?|posts|sent|sends|told|tells|replied|replies|answered|commented"
    r"|asks|asked|claims?"
    r"|reports?|reported|reads|prints?|printed|states?|pasted|shared|forwarded|got|received|found|came|suggest(?:s"
    r"|ed)|recommends?"
    r"|wants|argues|warns|proposes|according to|quot(?:e|es|ed|ing)|from (?:the|a|an|our|their|his|her|this|slack"
    r"|github|jira|support|irc|discord|teams|reddit|stack ?overflow|upstream)"
    r"|e-?mails?|messages?|comments?|thread|forum|reviewer|customer|client|colleague|vendor|supplier|contractor"
    r"|somebody|someone|upstream|maintainer"
    r"|newsletter|letter|transcript|excerpt|changelog|release notes|readme|docs|documentation|wiki|article|page"
    r"|log|logs|output|journalctl"
    r"|schreibt|schrieb|sagt|meint|meldet|geschrieben|geschickt|bekommen|erhalten|gefunden|antwortet|steht"
    r"|nachricht|kunde|kundin"
    r"|écrit|dit|envoyé|reçu|répond|message|courriel|client|escribe|escribió|dice|dijo|mandó|pasaron|recibí"
    r"|mensaje|correo|responde"
    r"|escreveu|disse|recebi|mensagem|scrive|ha scritto|dice|ricevuto|messaggio|schrijft|schreef|zegt|bericht"
    r"|pisze|napisał\w*|mówi"
    r"|skriver|skrev|säger|yazdı|diyor|mesaj|пишет|написал\w*|говорит|прислал\w*|получил\w*|письмо|сообщение"
    r"|ответил\w*)\b"
    r"|说|写道|发来|收到|消息|邮件|と書いて|言って|届い|メッセージ|メール|라고|보냈|메시지|메일",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"^\s{0,4}(?:[-*] )?(?:(?:please|then|now|and|ok(?:ay)?|yes),? )?(?:put|write|add|open|create|file|use|make"
    r"|set|insert|commit|send|post|draft|name"
    r"|call|rename|change|replace|document|note|remember|save|keep|schreib\w*|leg\w*|nimm|füge?|setz\w*|écris|mets"
    r"|ajoute|crée|escribe|pon|añade|crea"
    r"|напиши|добавь|создай|запиши)\b",
    re.IGNORECASE,
)
_OF_OTHERS = re.compile(
    r"\b(?:from|by|their|his|her|they|he|she|says?|said|wrote|writes|vendor|customer|client|colleague|reviewer"
    r"|somebody|someone|stranger"
    r"|von|ihre?|schreibt|schrieb|kunde|kundin|de la part|client|cliente|dice|escrib\w+|от|пишет|клиент\w*)\b",
    re.IGNORECASE,
)
_LEADS = re.compile(r"[:：]\s*$")
_PROCESSES = re.compile(
    r"\b(?:translate|summari[sz]e|explain|proofread|analy[sz]e|paraphrase|reply to|respond to|answer (?:to|this"
    r"|him|her|them)|thoughts on|what do you (?:think|make) of"
    r"|what (?:does|do|is|about) (?:this|that|it|he|she|they|the)\b|is (?:this|that|it) (?:true|right|real|correct"
    r"|legit|ok|harmless|spam)|makes? sense|look at|have a look|check|review|compare"
    r"|fyi|see below|übersetz\w*|fass\w*|erklär\w*|was (?:heißt|bedeutet|hältst)|stimmt das|prüf\w*|schau\w*|antworte"
    r"|tradui\w*|résum\w*|expliqu\w*|répond\w*|traduce\w*|tradúc\w*|resum\w*|explica\w*|responde\w*|qué significa"
    r"|traduz\w*|traduci|riassum\w*|spiega"
    r"|vertaal|vat samen|przetłumacz|streść|översätt|çevir\w*|özetle\w*|переведи\w*|перескажи|объясни\w*|ответь\w*"
    r"|что (?:это )?значит)\b"
    r"|翻译|总结|解释|回复|是什么意思|翻訳|要約|説明|返信|번역|요약|설명",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?:this|that|these|the following|below|here|dies\w*|das|folgende\w*|hier|ceci|cela|ce|cet|cette|suivant\w*"
    r"|esto|este|esta|siguiente|isto|questo|questa"
    r"|dit|deze|volgende|detta|bunu|şunu|это\w*|следующ\w*)\b|这|以下|これ|次の|이것|다음",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"^\s{0,4}(?:\^|↑|☝|(?:the |das |le |lo )?(?:above|obige\w*|oben|ci-dessus|de arriba|выше)\b"
    r"|(?:this|that|it|das|dies|ceci|c'est|esto|это) (?:is|was|came|comes|war|kam|ist|vient|est|es|viene|от"
    r"|из)?\b[^.!?\n]{0,40}\b(?:from|by|posted|sent|written|von|aus|de|от|из)\b)",
    re.IGNORECASE,
)
_INLINE = re.compile(
    r"(?<!that )(?<!should )(?<!must )(?<!to )(?<!and )(?<!i )(?<!I )(?<!we )(?<!We )\b(?:says?|said|wrote|writes"
    r"|claims?|claimed|states?|replied|commented|announced|insists"
    r"|schreibt|schrieb|sagt|meint|behauptet|écrit|dit|prétend|dice|dijo|escribe|escribió|afirma|scrive|пишет"
    r"|написал\w*|говорит)\b"
    r"[^\"“«„‘\n]{0,24}[\"“«„](?P<words>[^\"”»“\n]{8,1500})[\"”»“]",
    re.IGNORECASE,
)


@lru_cache(maxsize=64)
def quotations(text: str) -> tuple[Quotation, ...]:
    """Return the stretches of a person's message that are not the person's words, sorted, apart from each other."""
    return tuple(_Reading(text).read())


class _Reading:
    """A message that is read line by line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = _lines_of(text)
        self._said: list[str] = []
        """The person's own lines since the last block: they say whose the next block is."""

    def read(self) -> list[Quotation]:
        found: list[Quotation] = []
        n = 0
        while n < len(self._lines):
            block = self._block(n)
            if block is None:
                found += self._inline(self._lines[n])
                n += 1
                continue
            end, kind = block
            while end > n + 1 and not self._lines[end - 1].text.strip():
                end -= 1
            if not self._is_own():
                found.append(Quotation(self._lines[n].start, self._lines[end - 1].end, kind))
            self._said = []
            n = end
        return self._with_what_is_pointed_back_at(found)

    def _inline(self, line: _Line) -> list[Quotation]:
        """Note a line of the person's; return what of it stands in quotation marks after "the vendor says"."""
        if line.text.strip():
            self._said.append(line.text)
        if _OWN.search(line.text) or _OWN_ELSEWHERE.search(line.text):
            return []
        places = (match.span("words") for match in _INLINE.finditer(line.text))
        return [Quotation(line.start + start, line.start + end, "quote") for start, end in places]

    def _with_what_is_pointed_back_at(self, found: list[Quotation]) -> list[Quotation]:
        """Take all before the last paragraph for quoted where that says so: "^ posted under our release notes"."""
        body = self._text.rstrip()
        at = body.rfind("\n\n")
        last = body[at + 2 :] if at > 0 else ""
        if not last or (found and found[-1].end > at) or not _POINTS_BACK.match(last[:400]):
            return found
        if _OWN.search(last) or _OWN_ELSEWHERE.search(last):
            return found
        return [Quotation(0, at, "pasted")]

    def _is_own(self) -> bool:
        """Whether the lines before a block say that the person wrote it."""
        before = " ".join(self._said[-3:])
        return (_OWN.search(before) or _OWN_ELSEWHERE.search(before)) is not None and not _DISOWNS.search(before)

    def _block(self, n: int) -> tuple[int, QuoteKind] | None:
        """Return where the block ends that begins with line `n`, and its kind; None where none begins."""
        line = self._lines[n].text
        if fence := _FENCE.match(line):
            return self._fenced(n, fence)
        if tag := _TAG.match(line):
            return self._tagged(n, tag["name"].lower()), "fence"
        if _PASTED.match(line):
            return len(self._lines), "pasted"
        if _QUOTE.match(line):
            return self._paragraph(n), "quote"
        if _FORWARDS.match(line) or _WROTE.match(line) or self._has_fields(n):
            return len(self._lines), "mail"
        if _TRACKER.search(line):
            return len(self._lines), "pasted"
        return self._spoken(n) or self._printed(n) or self._introduced(n)

    def _fenced(self, n: int, fence: re.Match[str]) -> tuple[int, QuoteKind]:
        mark, language = fence["mark"], fence["language"].strip().split(" ")[0].lower()
        end = n + 1
        while end < len(self._lines):
            closing = self._lines[end].text.strip()
            end += 1
            if closing.startswith(mark) and not closing.strip(mark[0]):
                break
        inner = [line.text for line in self._lines[n + 1 : end - 1] if line.text.strip()]
        return end, "code" if language in _CODE_LANGUAGES or _looks_like_code(inner) else "fence"

    def _tagged(self, n: int, name: str) -> int:
        closing = f"</{name}"
        for end in range(n, len(self._lines)):
            if closing in self._lines[end].text.lower():
                return end + 1
        return len(self._lines)

    def _paragraph(self, n: int) -> int:
        """Where the lines end that follow one another without a blank one; quoted paragraphs belong together."""
        end = n
        while end < len(self._lines) and self._lines[end].text.strip():
            if _FENCE.match(self._lines[end].text):
                break
            end += 1
        return end

    def _has_fields(self, n: int) -> bool:
        """Whether a mail's or a ticket's fields stand here: two of them, one after the other."""
        for field in (_MAIL_FIELD, _TICKET_FIELD):
            if field.match(self._lines[n].text):
                following = [line.text for line in self._lines[n + 1 : n + 4] if line.text.strip()]
                if any(_MAIL_FIELD.match(one) or _TICKET_FIELD.match(one) for one in following):
                    return True
        return False

    def _spoken(self, n: int) -> tuple[int, QuoteKind] | None:
        """Return the lines of a chat: at least two that name who speaks and when, or two speakers in turn."""
        if not (self._names_speaker(n) or _SPEAKER.match(self._lines[n].text)):
            return None
        end, marked, speakers = n, 0, []
        while end < min(len(self._lines), n + _LOOKED_AHEAD) and (line := self._lines[end].text).strip():
            if self._names_speaker(end):
                marked += 1
            elif speaker := _SPEAKER.match(line):
                speakers.append(speaker["name"].casefold())
            end += 1
        if self._names_speaker(n):
            if marked > 1 or end - n > 1 or _SPEAKER_WITH_TIME.match(self._lines[n].text):
                return self._with_more_speakers(self._paragraph(n)), "chat"
            return None
        takes_turns = len(set(speakers)) > 1 and len(set(speakers)) < len(speakers)
        return (self._paragraph(n), "chat") if takes_turns else None

    def _names_speaker(self, n: int) -> bool:
        line = self._lines[n].text
        forms = (_SPEAKER_WITH_TIME, _SPEAKER_IN_BRACKETS, _ROLE)
        return any(form.match(line) for form in forms)

    def _with_more_speakers(self, end: int) -> int:
        """Go on where, after a blank line, the next one speaks."""
        while end < len(self._lines):
            at = end
            while at < len(self._lines) and not self._lines[at].text.strip():
                at += 1
            if at == len(self._lines) or not self._names_speaker(at):
                return end
            end = self._paragraph(at)
        return end

    def _printed(self, n: int) -> tuple[int, QuoteKind] | None:
        """Return what a program printed: log lines, and what stands between them; under a prompt all to a blank line."""
        line = self._lines[n].text
        if _PROMPT.match(line):
            return self._paragraph(n), "log"
        if _MARKUP.match(line):
            return self._paragraph(n), "fence"
        if not (_LOG.match(line) or _CODE.match(line)):
            return None
        kind: QuoteKind = "log" if _LOG.match(line) else "code"
        end = n + 1
        at = end
        while at < len(self._lines) and (line := self._lines[at].text).strip():
            at += 1
            if _LOG.match(line) or _CODE.match(line) or line[:1] in " \t":
                end = at
        return end, kind

    def _introduced(self, n: int) -> tuple[int, QuoteKind] | None:
        """Return what follows a line that says that somebody else said it: to the end of the message."""
        if not self._said or not self._lines[n].text.strip():
            return None
        lead = self._said[-1]
        introduces = _INTRODUCES.search(lead) is not None
        if introduces and _SPEAKER.match(self._lines[n].text):
            return self._paragraph(n), "chat"
        hands_over = introduces or _PROCESSES.search(lead) is not None
        follows_at_once = self._lines[n - 1].text.strip() != ""
        points = _LEADS.search(lead) is not None or (_POINTS.search(lead) is not None and not follows_at_once)
        if not (hands_over and points) or (_ORDERS.match(lead) and not _OF_OTHERS.search(lead)):
            return None
        return len(self._lines), "pasted"


def _lines_of(text: str) -> Sequence[_Line]:
    lines, at = [], 0
    for line in text.split("\n"):
        lines.append(_Line(at, at + len(line), line[:_LONGEST_LINE].rstrip("\r")))
        at += len(line) + 1
    return lines


def _looks_like_code(lines: Sequence[str]) -> bool:
    """Whether most lines are program text or a test's output."""
    signs = sum(1 for line in lines if _CODE.match(line) or _CODE_SIGN.search(line))
    return bool(lines) and signs * 3 >= len(lines) * 2
