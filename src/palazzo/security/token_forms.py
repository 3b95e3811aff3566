"""The formats of keys and tokens with a recognisable form, as a table. Owns no scanning (`secret_scanner`).

A vendor's format is public: its prefix exists so that leaks can be found. Prefix, alphabet and length are as stated by
the vendors' documentation, the rules of gitleaks at b58d3f10 (MIT), the detectors of TruffleHog at 3ab759fe (facts
only: AGPL-3.0) and detect-secrets 1.5.0 (Apache-2.0). Lengths are lower bounds here, since vendors lengthen keys
without notice. Bodies are bounded, so that a hostile text costs linear time.
"""

from __future__ import annotations

import re

from palazzo.frozen_class import frozen
from palazzo.text.lazy_patterns import make_regex

_W = r"[A-Za-z0-9_-]"
_A = r"[A-Za-z0-9]"
_X = r"[A-Fa-f0-9]"


@frozen
class Form:
    """One format: it begins with exactly `head` and continues with `body`."""

    rule: str
    head: str
    body: str


def _forms(rule: str, body: str, *heads: str) -> tuple[Form, ...]:
    return tuple(Form(rule, head, body) for head in heads)


FORMS: tuple[Form, ...] = (
    *_forms("aws-access-key", r"[A-Z2-7]{16}(?![A-Za-z0-9])", "AKIA", "ASIA", "ABIA", "ACCA"),
    *_forms("aws-bedrock-key", r"[A-Za-z0-9+/]{40,1000}={0,2}", "ABSK", "bedrock-api-key-"),
    *_forms("google-api-key", _W + r"{35}(?![\"',\s]{1,24}authDomain)", "AIza"),
    *_forms("google-oauth-secret", _W + "{24,40}", "GOCSPX-"),
    *_forms("google-oauth-token", r"[A-Za-z0-9_.-]{20,500}", "ya29."),
    *_forms("github-token", _A + "{36,255}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *_forms("github-token", r"\w{60,255}", "github_pat_"),
    *_forms("gitlab-token", r"[A-Za-z0-9_.-]{20,320}", "glpat-", "gldt-", "glrt-", "glft-", "glsoat-", "glffct-"),
    *_forms("gitlab-token", r"[A-Za-z0-9_-]{20,320}", "glcbt-", "glptt-", "glimt-", "glagent-", "gloas-", "GR1348941"),
    *_forms("anthropic-key", _W + "{20,200}", "sk-ant-"),
    *_forms("openai-key", rf"(?={_W}{{0,64}}?\d){_W}{{20,300}}", "sk-"),
    *_forms("huggingface-token", _A + "{30,60}", "hf_", "api_org_"),
    *_forms("groq-key", _A + "{40,80}", "gsk_"),
    *_forms("xai-key", _A + "{60,120}", "xai-"),
    *_forms("perplexity-key", _A + "{40,80}", "pplx-"),
    *_forms("replicate-token", _A + "{36,60}", "r8_"),
    *_forms("langsmith-key", r"[a-z0-9]{20,60}(?:_[a-z0-9]{6,20})?", "lsv2_pt_", "lsv2_sk_"),
    *_forms("slack-token", r"[A-Za-z0-9.-]{10,255}", "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-"),
    *_forms("slack-token", r"[A-Za-z0-9-]{10,255}", "xoxe.xoxp-", "xoxe.xoxb-", "xapp-"),
    *_forms("stripe-key", _A + "{10,200}", *(f"{a}k_{b}_" for a in "sr" for b in ("live", "test", "prod"))),
    *_forms("stripe-webhook-secret", r"[A-Za-z0-9+/]{24,100}={0,2}", "whsec_"),
    *_forms("twilio-key", r"[a-f0-9]{32}(?![A-Za-z0-9])", "SK", "AC"),
    *_forms("sendinblue-key", r"[a-f0-9]{64}-[A-Za-z0-9]{16}", "xkeysib-"),
    *_forms("npm-token", _A + "{36,80}", "npm_"),
    *_forms("pypi-token", _W + "{50,1000}", "pypi-"),
    *_forms("docker-token", _W + "{20,80}", "dckr_pat_", "dckr_oat_"),
    *_forms("digitalocean-token", _X + "{64}", "dop_v1_", "doo_v1_", "dor_v1_"),
    *_forms("cloudflare-key", r"[a-f0-9]{24}-[a-f0-9]{146}", "v1.0-"),
    *_forms("vercel-token", _A + "{20,80}", "vercel_blob_rw_", "vcp_", "vci_", "vca_"),
    *_forms("supabase-key", _W + "{20,80}", "sbp_", "sb_secret_"),
    *_forms("databricks-token", r"[a-f0-9]{32}(?:-\d)?", "dapi"),
    *_forms("shopify-token", _X + "{32}", "shpat_", "shpca_", "shppa_", "shpss_"),
    *_forms("square-token", _W + "{22,80}", "sq0atp-", "sq0csp-", "sq0idp-"),
    *_forms("mailgun-key", r"[a-f0-9]{32}(?![A-Za-z0-9])", "key-"),
    *_forms("new-relic-key", r"[A-Za-z0-9-]{19,60}", "NRAK-", "NRII-", "NRJS-", "NRSP-", "NRAA-"),
    *_forms("sentry-token", r"[A-Za-z0-9+/=_]{60,600}", "sntryu_", "sntrys_"),
    *_forms("linear-key", _A + "{40,80}", "lin_api_", "lin_oauth_"),
    *_forms("notion-token", _A + "{40,60}", "ntn_", "secret_"),
    *_forms("atlassian-token", r"[A-Za-z0-9_=-]{60,300}", "ATATT3", "ATCTT3", "ATBB"),
    *_forms("fly-token", r"[A-Za-z0-9+/=_-]{40,900}", "fo1_", "fm1a_", "fm1r_", "fm2_"),
    *_forms("age-key", r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{50,60}", "AGE-SECRET-KEY-1"),
    *_forms("grafana-token", r"[A-Za-z0-9+/=_]{32,400}", "glc_", "glsa_"),
    *_forms("planetscale-token", r"[\w=.-]{32,64}", "pscale_tkn_", "pscale_oauth_", "pscale_pw_"),
    *_forms("postman-key", r"[a-f0-9]{24}-[a-f0-9]{34}", "PMAK-"),
    *_forms("pulumi-token", r"[a-f0-9]{40}", "pul-"),
    *_forms("prefect-token", _A + "{36}", "pnu_"),
    *_forms("rubygems-key", r"[a-f0-9]{48}", "rubygems_"),
    *_forms("crates-token", _A + "{32}", "cio"),
    *_forms("palazzo-token", r"(?=[a-z0-9_-]{0,42}[A-Z])[\w-]{43}(?![\w-])", "palazzo_"),
    *_forms("clojars-token", r"[A-Za-z0-9]{60}", "CLOJARS_"),
    *_forms("readme-key", r"[a-z0-9]{70}", "rdme_"),
    *_forms("infracost-key", _A + "{32}", "ico-"),
    *_forms("artifactory-key", _A + "{59,80}", "AKCp", "cmVmd"),
    *_forms("1password-token", r"[A-Za-z0-9+/]{200,1500}={0,3}", "ops_eyJ"),
    *_forms("easypost-key", _A + "{54}", "EZAK", "EZTK"),
    *_forms("duffel-token", r"[\w=-]{43}", "duffel_test_", "duffel_live_"),
    *_forms("flutterwave-key", r"[a-h0-9]{12,32}", "FLWSECK_TEST-", "FLWSECK-"),
    *_forms("frameio-token", r"[\w=-]{64}", "fio-u-"),
    *_forms("alibaba-key", _A + r"{20}(?![A-Za-z0-9])", "LTAI"),
    *_forms("adobe-secret", r"[a-z0-9]{32}", "p8e-"),
    *_forms("shippo-token", _X + "{40}", "shippo_live_", "shippo_test_"),
    *_forms("sourcegraph-token", r"(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}", "sgp_"),
    *_forms("scalingo-token", _W + "{48}", "tk-us-"),
    *_forms("typeform-token", r"[\w.=-]{40,70}", "tfp_"),
    *_forms("figma-token", r"[\w-]{36,60}", "figd_"),
    *_forms("square-token", r"[\w-]{40,60}(?![\w/+=-])", "EAAA"),
    *_forms("facebook-token", _A + "{80,400}", "EAAM", "EAAC"),
    *_forms("heroku-key", r"[\w-]{58}", "HRKU-AA"),
    *_forms("buildkite-token", r"[A-Za-z0-9_-]{40,80}", "bkua_"),
    *_forms("slack-token", r"[A-Za-z0-9-]{10,255}", "xoxc-"),
    *_forms("slack-token", r"(?:[A-Za-z0-9+/=_-]|%[0-9A-F]{2}){40,400}", "xoxd-"),
    *_forms("google-oauth-token", r"[\w-]{30,200}", "1//0"),
    *_forms("cloudflare-tunnel-token", r"[A-Za-z0-9+/]{60,600}={0,2}", "eyJhIjoi"),
    *_forms("grafana-token", r"[A-Za-z0-9+/]{60,400}={0,2}", "eyJrIjoi"),
    *_forms("openrouter-key", r"[a-f0-9]{64}", "sk-or-v1-"),
    *_forms("nvidia-key", _W + "{40,100}", "nvapi-"),
    *_forms("pinecone-key", _A + "{5,6}_" + _A + "{40,80}", "pcsk_"),
    *_forms("posthog-key", _A + "{35,60}", "phx_"),
    *_forms("fireworks-key", _A + "{22,40}", "fw_"),
    *_forms("together-key", _W + "{40,60}", "tgp_v1_"),
    *_forms("cerebras-key", r"[a-z0-9]{40,60}", "csk-"),
    *_forms("voyage-key", _W + "{40,50}", "pa-"),
    *_forms("elevenlabs-key", r"[a-f0-9]{48}", "sk_"),
    *_forms("modal-token", _A + "{22}(?![A-Za-z0-9_-])", "ak-", "as-"),
    *_forms("runpod-key", r"[A-Z0-9]{40,60}", "rpa_"),
    *_forms("cursor-key", r"[a-f0-9]{64}", "key_"),
    *_forms("password-hash", r"[a-f0-9]{32}(?![A-Za-z0-9])", "md5"),
    *_forms("jina-key", _W + "{50,70}", "jina_"),
    *_forms("tavily-key", r"(?:dev-|prod-)?" + _A + "{28,40}", "tvly-"),
    *_forms("firecrawl-key", r"[a-f0-9]{32}", "fc-"),
    *_forms("wandb-key", _W + "{40,120}", "wandb_v1_"),
    *_forms("e2b-key", r"[a-f0-9]{40}", "e2b_"),
    *_forms("google-hmac-key", r"[A-Z0-9]{20,60}(?![A-Za-z0-9])", "GOOG1E", "GOOG"),
    *_forms("circleci-token", _A + "{20,24}_[a-fA-F0-9]{40}", "CCIPAT_", "CCIPRJ_"),
    *_forms("salesforce-key", r"[0-9A-Za-z._+/=]{60,250}", "3MVG9"),
    *_forms("bitbucket-token", r"[A-Za-z0-9+/@_-]{40,50}", "BBDC-"),
    *_forms("contentful-token", _W + "{43}", "CFPAT-"),
    *_forms("new-relic-key", r"[A-Za-z0-9-]{19,60}", "NRBR-", "NRIQ-"),
    *_forms("adafruit-key", _A + "{28}", "aio_"),
    *_forms("apify-token", _A + "{36}", "apify_api_"),
    *_forms("tailscale-key", r"[a-z]{2,12}-[0-9A-Za-z]{6,40}-[0-9A-Za-z]{16,64}", "tskey-"),
    *_forms("hubspot-token", r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "pat-na1-", "pat-eu1-"),
    *_forms(
        "plaid-token",
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "access-sandbox-",
        "access-development-",
        "access-production-",
    ),
    *_forms("stripe-client-secret", _A + "{20,30}_secret_" + _A + "{20,40}", "pi_", "seti_"),
    *_forms("ramp-key", _A + "{48}", "ramp_sec_"),
    *_forms("rootly-key", r"[a-f0-9]{64}", "rootly_", "slk_"),
    *_forms("sumo-logic-key", r"[a-z]{2}-[a-f0-9]{64}", "s-s4t2ud-", "u-s4t2ud-"),
    *_forms("snyk-token", r"[\w.-]{30,100}", "snyk_"),
    *_forms("sonar-token", r"[a-f0-9]{40}", "sqp_", "sqa_", "squ_"),
    *_forms("nuget-key", r"[a-z0-9]{43}(?![A-Za-z0-9])", "oy2"),
    *_forms("netlify-token", _A + "{36,60}", "nfp_", "nfo_", "nfc_", "nfu_"),
    *_forms("render-key", _A + "{24,40}", "rnd_"),
    *_forms("neon-key", r"[a-z0-9]{40,80}", "napi_"),
    *_forms("vercel-token", _A + "{20,80}", "vck_", "vcr_"),
    *_forms("brevo-key", r"[a-f0-9]{64}-[A-Za-z0-9]{16}", "xsmtpsib-"),
    *_forms("resend-key", _A + "{8}_" + _A + "{24}", "re_"),
    *_forms("paddle-key", r"[a-z0-9_]{20,100}" + _A + "{0,60}", "pdl_live_apikey_", "pdl_sdbx_apikey_"),
    *_forms(
        "payment-key", r"(?<!pk_live_)(?=[A-Za-z_-]{0,20}\d)[A-Za-z0-9_-]{30,60}(?![A-Za-z0-9_-])", "live_", "sandbox_"
    ),
    *_forms("payment-key", r"(?<!pk_test_)(?=[A-Za-z]{0,20}\d)[A-Za-z0-9]{30,60}(?![A-Za-z0-9_-])", "test_"),
    *_forms("razorpay-key", _A + "{14,40}", "rzp_live_", "rzp_test_"),
    *_forms("trello-token", r"[a-f0-9A-F]{64,72}", "ATTA"),
    *_forms("matrix-token", r"[A-Za-z0-9+/=]{4,60}_[A-Za-z]{16,24}_[A-Za-z0-9]{6}", "syt_"),
    *_forms("ntfy-token", r"[a-z0-9]{29}", "tk_"),
    *_forms("honeycomb-key", _A + "{40,80}", "hcaik_", "hcxik_", "hcalk_"),
    *_forms("twitter-token", r"[A-Za-z0-9%]{60,120}", "AAAAAAAAAAAAAAAAAAAAA"),
    *_forms("facebook-token", _A + "{80,400}", "EAAB", "EAAG", "EAAD", "EAAJ", "EAAZ", "IGQV", "IGAA"),
    *_forms("langfuse-key", r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "sk-lf-"),
    *_forms("1password-key", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}", "A3-"),
    *_forms("octopus-key", r"[A-Z0-9]{26,40}(?![A-Za-z0-9])", "API-"),
    *_forms("smartling-token", _A + "{16}(?![A-Za-z0-9])", "sm_aat_", "sm_pat_", "sm_sat_"),
    *_forms("scaleway-key", r"[A-Z0-9]{17}(?![A-Za-z0-9])", "SCW"),
    *_forms("tencent-key", _A + "{32}(?![A-Za-z0-9])", "AKID"),
    *_forms("buildkite-token", r"[A-Za-z0-9_.-]{30,120}", "bkat_", "bkaj_", "bkpt_", "bkct_"),
    *_forms("extended-private-key", r"[1-9A-HJ-NP-Za-km-z]{100,112}", "xprv", "yprv", "zprv", "tprv"),
    *_forms("wallet-key", r"[1-9A-HJ-NP-Za-km-z]{47,48}(?![A-Za-z0-9])", "5H", "5J", "5K"),
    *_forms(
        "jwt", r"[\w-]{12,8000}\.(?:eyJ[\w-]{8,16000}(?:\.[\w-]{8,4000})?|[\w-]{0,2000}(?:\.[\w-]{8,16000}){3})", "eyJ"
    ),
)
"""Keys with a prefix of their own. A prefix counts only where a word may begin."""

SEGMENTED_FORMS: tuple[tuple[str, str], ...] = (
    ("sendgrid-key", r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    ("doppler-token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,80}"),
    ("vault-token", r"hv[sbr]\.[\w-]{24,400}"),
    ("dynatrace-token", r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("terraform-token", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}"),
    ("telegram-token", r"(?:bot)?\d{5,16}:A[\w-]{34}(?![\w-])"),
    ("vault-token", r"s\.(?=[A-Za-z]{0,24}\d)[A-Za-z0-9]{24}(?![\w.-])"),
    ("dropbox-token", r"sl\.(?:u\.)?[\w-]{60,1000}"),
    ("asana-token", r"\d/\d{10,20}(?:/\d{10,20})?:[a-f0-9]{32}"),
    ("google-api-key", r"AQ\.Ab8[\w-]{30,60}"),
    ("mailersend-key", r"mlsn\.[a-f0-9]{64}"),
    ("bitwarden-token", r"0\.[a-f0-9]{8}-[a-f0-9-]{27}\.[A-Za-z0-9]{20,60}:[A-Za-z0-9+/]{20,60}={0,2}"),
    ("mapbox-token", r"sk\.eyJ[\w-]{20,400}\.[\w-]{20,60}"),
    ("zoho-token", r"1000\.[a-f0-9]{32}\.[a-f0-9]{32}"),
    ("linkedin-secret", r"WPL_AP1\.[A-Za-z0-9.]{10,60}={0,2}"),
    ("pushbullet-token", r"o\.[A-Za-z0-9]{32}(?![\w.-])"),
    ("openshift-token", r"sha256~[\w-]{43}"),
    ("harness-token", r"(?:pat|sat)\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    ("google-oauth-token", r"ya29\.[\w.-]{20,500}"),
    ("airtable-token", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("cloudflare-key", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    ("slack-token", r"xoxe\.xox[bp]-[A-Za-z0-9-]{10,255}"),
)
"""Keys whose long part follows a `.`, a `~` or a `:`."""
LED_BY = frozenset(
    """
    SG. prd. dev. stg. pt. st. ct. sa. scim. audit. hvs. hvb. hvr. s. dt0c01. dt0s01. dt0s02. dt0s03. dt0a01. atlasv1. sha256~ pat.
    sat. ya29. v1. xoxe. sl. u. AQ. mlsn. 0. sk. 1000. AP1. o.
    """.split()
)
"""The text before the long part of each of them, except those that end in `:`."""

DISCORD = make_regex(r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])")
MAILCHIMP = make_regex(r"[0-9a-f]{32}-us\d{1,2}(?![\w-])")
MAXMIND = make_regex(r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![\w-])")

AZURE_CLIENT_SECRET = make_regex(r"(?<![\w~.])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])")
WEBHOOK = make_regex(
    r"hooks\.slack\.com/(?:services|workflows|triggers)/(T[\w/]{20,80})"
    r"|discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{16,20}/([\w-]{60,80})"
    r"|\.webhook\.office\.com/webhookb2/([\w@-]{36,80}/IncomingWebhook/[\w/-]{32,120})"
    r"|hooks\.zapier\.com/hooks/catch/(\d{4,12}/[\w/-]{6,60})"
    r"|maker\.ifttt\.com/trigger/[^\s/]{1,60}/(?:json/)?with/key/([\w-]{16,60})"
    r"|\.make\.com/([a-z0-9]{30,40})"
    r"|/open-apis/bot/v2/hook/([\w-]{20,60})"
    r"|/hooks/([a-z0-9]{26})(?![\w-])",
    re.ASCII,
)
PRIVATE_KEY = make_regex(
    r"-----? ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-----?"
    r"(?:((?:[^-]|-(?!---)){0,16384})-----? ?END [A-Z0-9 ]{0,60}-----?"
    r"|((?:(?:\s|\\{1,4}[nr])*[A-Z][\w-]{1,20}: [^\n]{1,80}){0,4}(?:(?:\s|\\{1,4}[nr]|[>+|#*])*[A-Za-z0-9+/=]{16,}+(?![^\s\\\"'])){1,400}))"
)
"""Up to its last line, or, if that is missing, to the end of its body."""
PRIVATE_KEY_TAIL = make_regex(
    r"(?<![A-Za-z0-9+/=])((?:[A-Za-z0-9+/=]{5,}+(?:\s|\\{1,4}[nr]|[\"',+>|#*]){1,12}(?:\d{1,5}(?:[\t:|]|\u2192){1,2}[ ]?)?){1,100})-----END [A-Z0-9 ]{0,40}\Z"
)
"""The body before a last line whose first line is missing from the text."""
KEY_MATERIAL = make_regex(r"[A-Za-z0-9+/]{32}")
