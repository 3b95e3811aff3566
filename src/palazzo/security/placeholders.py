"""Placeholders of secrets that are not secrets: references, placeholders, defaults and public examples.

Owns this decision for all secret rules. Does not know where a value was found.
"""

from __future__ import annotations

import re

from palazzo.text.lazy_patterns import make_regex
from palazzo.text.stopwords import STOP_WORDS

REFERENCE = make_regex(
    r"[$<%({@\[]|\{\{|&(?:lt|#x3c);|(?:process\.env|os\.|env[.\[:]|config\.|settings\.|self\.|this\.|vault:|sops:|op://|ssm:|arn:|secrets?\.|vars?\."
    r"|local\.|data\.|file:|https?:|[~.]{0,2}/|[a-z]:\\|projects/|std::|ref\+|kms:|encrypted:|ENC\[|AQICAH|gAAAAA"
    r"|Ag[ABC][A-Za-z0-9+/]{80})",
    re.IGNORECASE,
)
"""How a value begins that only refers to a secret, or that is encrypted."""
PLACEHOLDER = make_regex(
    r"your|my[_-]|example|change.?me|xxx|\*\*\*|\.\.\.|…|•••|placeholder|dummy|sample|fake|insert|replace|redact"
    r"|hidden|masked|todo|fixme|not.?set|not.?needed|undefined|unknown|optional|required|invalid|expired|null$|none$"
    r"|true$|false$|\[private|p(?:ass)?w(?:or)?d|passw|secret|token|api.?key|credential|0123456789|1234567890"
    r"|abcdefgh|deadbeef|(.)\1{5}",
    re.IGNORECASE,
)
"""Parts of a value that a person must replace. For places where most values are words of a program."""
_SURE_PLACEHOLDER = make_regex(
    r"\A(?:required|nullable|sometimes|string|present|bail)[|:]|\*{2,}|x{3,}|\.\.\.|…|•••|_{4,}|#{4,}|-{4,}|change.?(?:me|it|this)|place.?holder|example|redact|\byour|\bmy[-_]"
    r"|<[^>]*>|\{[A-Za-z_][\w.]*\}|\A%\w+%|%[A-Z_]{4,40}%|\$\{|\$\(|[-_ ]here\b|todo|fixme|replace|insert|dummy|sample|not.?set|undefined|\[private",
    re.IGNORECASE,
)
_WORD_FOR_ONE = make_regex(
    r"(?:(?:super|an?|the|your|my|some|new|old|db|user|admin|root|test|default|current|strong|good|bad|invalid|wrong)[-_ ]?){0,3}"
    r"(?:pass(?:word|wd|phrase|code)?|passwort|kennwort|pwd?|secret|token|key|credentials?|value|string|text|contrase\wa"
    r"|senha|wachtwoord|has[lł]o|clave|mot de passe|parola|heslo|парол\w?|密码|密碼|パスワード|비밀번호|l[oö]senord|adgangskode|salasana)s?[-_ ]?(?:here|value|string)?|tests?\d{0,4}(?:tests?\d{0,4})?",
    re.IGNORECASE,
)
_STATE = make_regex(
    r"(?:un|in|not|nicht|non|no|im)?[- ]?(?:requ(?:ir|is|er)|obligat|obrigat|mandator|erforder|pflicht|verplicht|wymaga|pov?inn|falsch|wrong|incorr|errat"
    r"|expir|abgelauf|scadut|verlopen|wygas|vergess|vergeten|forgot|oubli|olvid|esquec|accept|verif|match|missing|fehl|manquant"
    r"|falta|vide|vac[ií]|vazi|vuot|generat|random|hidden|cach[eé]|ocult|verborg|encrypt|hashed|reset"
    r"|chang|updat|rotat|enabl|disabl|support|protect|provid|default|valid|ung[uü]ltig|nieprawid|neces|opcional|option)[\w-]{0,12}",
    re.IGNORECASE,
)
"""States of a form field or a login, in eight languages, by word stem."""
_TAG = make_regex(r"![A-Za-z]{2,12}")
"""A YAML tag: the value that follows is encrypted or a reference."""
_WORDS_OF_PROGRAMS = frozenset(
    """
    required optional hidden string text input output username user users admin administrator root guest none null
    true false nil undefined default test testing tests localhost prompt stdin file env envvar type name number
    boolean bool object array any bytes unicode secretstr field label title value values button submit reset forgot
    confirm change update create current new old empty blank incorrect invalid wrong missing expired disabled
    enabled encrypted hashed plain plaintext masked length strength policy manager store vault keyring keychain
    keepass bitwarden ask asks postgres mysql redis rabbitmq minioadmin minio mongodb elastic sa changeit changeme
    toor airflow grafana kibana nexus sonar jenkins unset private public basic bearer digest oauth oauth2 ldap
    kerberos scram-sha-256 sha256 bcrypt vagrant raspberry odoo wordpress drupal joomla keycloak gitea nextcloud n8n
    supabase directus strapi docker dev demo local development database data api app laravel symfony django word
    words phrase secretstr securestring passwordhash only auth authentication login logout signin sign-in off on yes
    no bitnami anonymous anonymous@ foobared salted stored leer leeg puste auto automatic files compat systemd here there everywhere same both them this that these those
    """.split()
)
_PUBLIC_EXAMPLES = frozenset(
    """
    JBSWY3DPEHPK3PXP GEZDGNBVGY3TQOJQ GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ QWxhZGRpbjpvcGVuIHNlc2FtZQ== open sesame
    dGhlIHNhbXBsZSBub25jZQ== s3pPLMBiTxaQ9kYGzzhZRbK+xOo= 12345678901234567890
    Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==
    C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==
    6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe 6LeIxAcTAAAAAJcZVRqyHh71UMIEGNQ_MXjiZKhI
    sk_test_4eC39HqLyjWDarjtT1zdp7dc sk_test_BQokikJOvBiI2HlWgH4olfQ2 pk_test_TYooMQauvdEDq54NiTphI7jx
    1x0000000000000000000000000000000AA 2x0000000000000000000000000000000AA 3x0000000000000000000000000000000AA
    mF_9.B5f-4.1JqM czZCaGRSa3F0MzpnWDFmQmF0M2JW dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
    2b7e151628aed2a6abf7158809cf4f3c 000102030405060708090a0b0c0d0e0f
    SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c correcthorsebatterystaple
    """.replace("=", "").split()
)
"""Values from RFCs 4226, 6238, 6455, 6749, 6750, 7515, 7617 and 7636, from FIPS 197, from jwt.io and from vendors'
manuals: the emulators of Azure Storage and Cosmos DB, the test keys of Stripe, reCAPTCHA and Turnstile.
"""
_PUBLIC_JWT = make_regex(r"eyJ[\w-]+\.(?:eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9l|eyJpc3MiOiJqb2UiLA0K)")
_LOCAL = make_regex(
    r"(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal|[a-z0-9_-]{1,30})(?::\d+)?(?:[/?;,\s\"'`)]|$)",
    re.I,
)


def is_stand_in(value: str) -> bool:
    """Whether a value in the position of a password is a reference, a placeholder, a program's keyword or a function word."""
    bare = value.strip("\"'`.,;:!?()[]")
    return (
        not bare
        or value.rstrip().endswith(":")  # a prompt
        or _TAG.fullmatch(value) is not None
        or REFERENCE.match(value) is not None
        or _SURE_PLACEHOLDER.search(value, 0, 80) is not None
        or bare.lower() in _WORDS_OF_PROGRAMS
        or bare.lower() in STOP_WORDS
        or _WORD_FOR_ONE.fullmatch(bare) is not None
        or (bare.isalpha() and _STATE.fullmatch(bare) is not None)
        or len(set(value)) < 3
    )


def is_public_example(token: str) -> bool:
    """Whether a token is a published example from a manual or a standard."""
    return (
        token.rstrip("=") in _PUBLIC_EXAMPLES
        or token.startswith(("pk.", "pk_"))
        or token.endswith(("EXAMPLE", "EXAMPLEKEY"))
        or _PUBLIC_JWT.match(token) is not None
    )


def is_default_login(user: str, password: str, host: str) -> bool:
    """Whether a password equals the user's name at a local-only host: a program's default."""
    return user == password and _LOCAL.match(host) is not None
