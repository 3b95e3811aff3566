"""The line patterns by which `quotations` recognises quotations, and a person's words about them. Pure."""

from __future__ import annotations

import re

from palazzo.text.lazy_patterns import make_regex

# --- forms of lines ----------------------------------------------------------------------------------------

FENCE = make_regex(r"^[ \t]{0,8}(?:[-*+] {1,3})?(?P<mark>`{3,}|~{3,})(?P<language>[^`\n]{0,80})$")
TAG = make_regex(
    r"^\s{0,8}<(?P<name>details|blockquote|document|documents|attachment|file|paste|pasted|pasted[-_]text|quote|email"
    r"|mail|issue|context|log|output|message|conversation|transcript)\b[^>\n]{0,400}>",
    re.IGNORECASE,
)
PASTE_MARK = make_regex(
    r"^\s{0,8}\[(?:Pasted text|Pasted content|Pasted|Attachment|Attached file|Clipboard)\b[^\]\n]{0,120}\]", re.I
)
QUOTE = make_regex(r"^\s{0,8}(?:>|»|❯|&gt;|┃|▎)")
MAIL_FIELDS = (
    "from|to|cc|bcc|sent|date|subject|reply-to|message-id|message|mime-version|content-type|received|return-path"
    "|delivered-to|in-reply-to|references|x-[a-z-]{1,40}|list-id"
    "|von|an|gesendet|datum|betreff|kopie|antwort an"
    "|de|à|objet|envoyé|date d'envoi|para|asunto|fecha|enviado|enviado el|assunto|data|da|oggetto|inviato"
    "|van|aan|onderwerp|verzonden|od|do|temat|wysłano|från|till|ämne|skickat|fra|til|emne|kimden|kime|konu|tarih"
    "|от|кому|тема|дата|отправлено|від|发件人|收件人|主题|日期|抄送|寄件者|主旨|差出人|宛先|件名|送信日時"
    "|보낸 ?사람|받는 ?사람|제목|날짜"
)
TICKET_FIELDS = (
    "title|author|reporter|reported by|opened by|assignee|labels?|status|state|priority|severity|component|milestone"
    "|description|summary|body|issue|ticket|key|type|created|updated|environment|affects versions?|fix versions?"
    "|steps to reproduce|expected(?: behaviou?r| result)?|actual(?: behaviou?r| result)?|reviewer|commenter|comment"
    "|titel|autor|melder|beschreibung|titre|auteur|título|autor|descripción|автор|описание|заголовок|标题|作者|描述"
)
MAIL_FIELD = make_regex(rf"^\s{{0,4}}(?:\*\*)?(?:{MAIL_FIELDS})(?:\*\*)?\s?[:：]", re.IGNORECASE)
TICKET_FIELD = make_regex(rf"^\s{{0,4}}(?:[#*]{{1,4}} ?)?(?:{TICKET_FIELDS})(?:\*\*)?\s?[:：]", re.IGNORECASE)
FORWARDS = make_regex(
    r"^\s{0,8}(?:-{2,}|_{4,}|={2,})?\s?(?:forwarded message|original message|begin forwarded message"
    r"|ursprüngliche nachricht|weitergeleitete nachricht|message transféré|message d'origine|mensaje reenviado"
    r"|mensaje original|mensagem original|messaggio inoltrato|messaggio originale|пересылаемое сообщение"
    r"|исходное сообщение|doorgestuurd bericht|wiadomość przekazana|原始邮件|转发的邮件|転送メッセージ|원본 메시지)\b",
    re.IGNORECASE,
)
WROTE = make_regex(
    r"^\s{0,8}(?:On\b[^\n]{4,200}\bwrote|Am\b[^\n]{4,200}\bschrieb[^\n]{0,80}|Le\b[^\n]{4,200}\ba écrit"
    r"|El\b[^\n]{4,200}\bescribió|Em\b[^\n]{4,200}\bescreveu|Il\b[^\n]{4,200}\bha scritto"
    r"|Op\b[^\n]{4,200}\bschreef[^\n]{0,80}"
    r"|W dniu\b[^\n]{4,200}\bnapisał[^\n]{0,80}|\d[^\n]{4,200}\bнаписал[^\n]{0,80}|[^\n]{4,200}\byazdı)\s?[:：]\s*$"
)
TRACKER = make_regex(
    r"\b(?:opened this issue|opened this pull request|commented (?:on|\d)|\d+ comments?\s*$|reported by @"
    r"|assigned to @"
    r"|requested changes|left a comment|added the .{1,40} label)",
    re.IGNORECASE,
)
TIME = r"\d{1,2}[:.h]\d{2}(?:[:.]\d{2})?(?:[.,]\d{1,9})?(?: ?[AaPp]\.?[Mm]\.?)?"
DAY = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{2,4})?|[A-Z][a-z]{2}\.? {1,2}\d{1,2})"
NAME = r"[^\W\d_][\w.'’@ -]{0,38}"
SPEAKER_WITH_TIME = make_regex(
    rf"^\s{{0,4}}(?:[\[(]?(?:{DAY}[,T ]{{1,3}})?{TIME}[\])]?\s{{0,3}}[-–—]?\s{{0,3}}(?![a-z]+ )<?@?{NAME}>?\s?[:：]"
    rf"|<?@?{NAME}>?\s{{1,4}}[\[(]?(?:{DAY}[,T ]{{1,3}})?{TIME}[\])]?\s?(?:[:：]|$))"
)
SPEAKER_IN_BRACKETS = make_regex(rf"^\s{{0,4}}(?:<@?{NAME}>|\[@?{NAME}\]|@[\w.-]{{2,40}}:)\s")
ROLE = make_regex(
    r"^\s{0,4}(?:\*\*|##? )?(?:user|human|assistant|system|ai|bot|chatgpt|claude|gemini|copilot|developer|agent"
    r"|model|customer"
    r"|client|support|operator|moderator|caller|interviewer|nutzer|benutzer|assistent|kunde|kundin|utilisateur"
    r"|usuario"
    r"|cliente|пользователь|ассистент|клиент|用户|助手|ユーザー|アシスタント|사용자)(?:\*\*)?\s?(?:[:：]|>)",
    re.IGNORECASE,
)
SPEAKER = make_regex(rf"^\s{{0,4}}(?:\*\*)?(?P<name>@?{NAME}?)(?:\*\*)?[:：]\s{{1,3}}\S")
LOG = make_regex(
    rf"^\s{{0,8}}(?:[\[(<]?{DAY}(?:[T ,]{{1,3}}|\s){TIME}|[\[(]?{TIME}[\])]?\s"
    r"|\[?(?:ERROR|ERR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL|NOTICE|CRITICAL|SEVERE)\b[\]:]?"
    r"|(?:npm|yarn|pnpm) (?:warn|err|info|notice|WARN|ERR|error)\b|[\w.-]{1,60}[-_]\d{1,3}\s{2,12}\|\s"
    r"|\{\"[\w@.-]{1,40}\"\s?:.{0,1900}\}\s*$|[\w./-]{1,60}\[\d{1,8}\]:|\d{10,13}(?:\.\d+)?\s"
    r"|\^?[0-9a-f]{4,40} \([^()\n]{3,80}\d{4}-\d\d-\d\d|\^?[0-9a-f]{7,40} (?:\(|\[|refs/)|(?:#\d{1,3}|=>) \[?\w"
    r"|exited with code \d|[\w.-]{1,60} exited with code \d)"
)
PROMPT = make_regex(
    r"^\s{0,4}(?:\$ |# (?=[a-z]{2,}\b)|% |PS [A-Z]:|>>> |\w{1,32}@[\w.-]{1,60}[:~ ].{0,80}[$#%] |[A-Z]:\\.{0,120}> )"
)
CODE = make_regex(
    r"^\s{0,200}(?:Traceback \(most recent call last\)|File \"[^\"\n]{1,300}\", line \d|at [\w$.<>]{1,200}\s?\("
    r"|diff --git |index [0-9a-f]{6,}"
    r"|@@ -\d|[+-]{3} [ab/]|(?:E {1,4}|FAILED|PASSED|ERROR)\s[\w./:\[\]-]{3,}|(?:not )?ok \d"
    r"|[\w./-]{1,200}::[\w:\[\]. -]{1,200}\s(?:PASSED|FAILED|ERROR|SKIPPED)"
    r"|error(?:\[\w+\]|:)|panic:|goroutine \d|Caused by:|\w{1,80}(?:Error|Exception): |Process exited with code \d)"
)
MARKUP = make_regex(
    r"^\s{0,40}<(?:!doctype|!--|\?xml|/?(?:html|head|body|p|div|span|h[1-6]|ul|ol|li|table|tr|td|a|br|img|script|style|meta|title|form)\b)"
    r"(?=[^\n]{0,2000}(?:>|[\"'])\s*$)",  # a sentence that begins with a tag is a person's
    re.I,
)

CODE_LANGUAGES = frozenset(
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
CODE_SIGN = make_regex(
    r"[{};]\s*$|^\s*(?:def|class|func|fn|import|from|return|const|let|var|if|for|while|#include|package)\b|=>|\w\(|^\s*[\w.]+\s?=\s?\S"
)

# --- what a person says of a block ---------------------------------------------------------------------------

OWN = make_regex(
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
OWN_ELSEWHERE = make_regex(
    r"\b(?:mein(?:e|en|em|er)? (?:eigene[nrsm]?|regeln?|text|ticket|entwurf|code|notizen?|plan|vorgaben?)|von mir\b"
    r"|(?:habe|hab) ich (?:\w+ ){0,3}geschrieben|unsere (?:regeln?|vorgaben?)|genau (?:das|diesen text)"
    r"|mon propre|ma propre|mes (?:règles|notes)|j'ai (?:écrit|rédigé|décidé)|c'est de moi|nos règles"
    r"|mi propi[oa]|mis (?:reglas|notas)|lo escribí|es mío|nuestras reglas|meu próprio|minhas regras|eu escrevi"
    r"|le mie regole|l'ho scritto io|mijn eigen|onze regels|moje (?:zasady|własne)"
    r"|мои правила|мой (?:собственный|текст|тикет)|я (?:сам )?написал)"
    r"|我(?:自己)?写的|我的(?:规则|代码|笔记)|自分で書いた|私の(?:ルール|メモ)"
    r"|내가 쓴|제가 쓴|benim (?:kurallarım|kendi)",
    re.IGNORECASE,
)
DISOWNS = make_regex(
    r"\b(?:never|not|didn't|did not|don't|nobody|isn't|wasn't|nicht|nie|kein\w*|jamais|n'ai pas|no|nunca|не)\b"
    r"[^.!?\n]{0,24}\b(?:wrote|write|written|mine|my|ours?|said|say|approved?|decided?|geschrieben|von mir|écrit"
    r"|escrib\w+|писал\w*)\b",
    re.IGNORECASE,
)
INTRODUCES = make_regex(
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
ORDERS = make_regex(
    r"^\s{0,4}(?:[-*] )?(?:(?:please|then|now|and|ok(?:ay)?|yes),? )?(?:put|write|add|open|create|file|use|make"
    r"|set|insert|commit|send|post|draft|name"
    r"|call|rename|change|replace|document|note|remember|save|keep|schreib\w*|leg\w*|nimm|füge?|setz\w*|écris|mets"
    r"|ajoute|crée|escribe|pon|añade|crea"
    r"|напиши|добавь|создай|запиши)\b",
    re.IGNORECASE,
)
OF_OTHERS = make_regex(
    r"\b(?:from|by|their|his|her|they|he|she|says?|said|wrote|writes|vendor|customer|client|colleague|reviewer"
    r"|somebody|someone|stranger"
    r"|von|ihre?|schreibt|schrieb|kunde|kundin|de la part|client|cliente|dice|escrib\w+|от|пишет|клиент\w*)\b",
    re.IGNORECASE,
)
LEADS = make_regex(r"[:：]\s*$")
PROCESSES = make_regex(
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
POINTS = make_regex(
    r"\b(?:this|that|these|the following|below|here|dies\w*|das|folgende\w*|hier|ceci|cela|ce|cet|cette|suivant\w*"
    r"|esto|este|esta|siguiente|isto|questo|questa"
    r"|dit|deze|volgende|detta|bunu|şunu|это\w*|следующ\w*)\b|这|以下|これ|次の|이것|다음",
    re.IGNORECASE,
)
POINTS_BACK = make_regex(
    r"^\s{0,4}(?:\^|↑|☝|(?:the |das |le |lo )?(?:above|obige\w*|oben|ci-dessus|de arriba|выше)\b"
    r"|(?:this|that|it|das|dies|ceci|c'est|esto|это) (?:is|was|came|comes|war|kam|ist|vient|est|es|viene|от"
    r"|из)?\b[^.!?\n]{0,40}\b(?:from|by|posted|sent|written|von|aus|de|от|из)\b)",
    re.IGNORECASE,
)
INLINE = make_regex(
    r"(?<!that )(?<!should )(?<!must )(?<!to )(?<!and )(?<!i )(?<!I )(?<!we )(?<!We )\b(?:says?|said|wrote|writes"
    r"|claims?|claimed|states?|replied|commented|announced|insists"
    r"|schreibt|schrieb|sagt|meint|behauptet|écrit|dit|prétend|dice|dijo|escribe|escribió|afirma|scrive|пишет"
    r"|написал\w*|говорит)\b"
    r"[^\"“«„‘\n]{0,24}[\"“«„](?P<words>[^\"”»“\n]{8,1500})[\"”»“]",
    re.IGNORECASE,
)
