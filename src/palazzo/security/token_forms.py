"""The forms of keys and tokens that give themselves away, as a table. Owns no scanning (`secrets.py`).

A vendor's format is public: its prefix exists so that leaks can be found. Prefix, alphabet and length are as
the vendors' documentation and the rules of gitleaks (MIT) and detect-secrets (Apache-2.0) state them; lengths
are lower bounds here, since vendors lengthen keys without notice. Bodies are bounded, so that a hostile text
costs linear time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_W = r"[A-Za-z0-9_-]"
_A = r"[A-Za-z0-9]"
_X = r"[A-Fa-f0-9]"


@dataclass(frozen=True, slots=True)
class Form:
    """One format: it begins with `head`, exactly, and goes on with `body`."""

    rule: str
    head: str
    body: str


def _forms(rule: str, body: str, *heads: str) -> tuple[Form, ...]:
    return tuple(Form(rule, head, body) for head in heads)


FORMS: tuple[Form, ...] = (
    *_forms("aws-access-key", r"[A-Z2-7]{16}(?![A-Za-z0-9])", "AKIA", "ASIA", "ABIA", "ACCA"),
    *_forms("aws-bedrock-key", r"[A-Za-z0-9+/]{40,1000}={0,2}", "ABSK", "bedrock-api-key-"),
    *_forms("google-api-key", _W + "{35}", "AIza"),
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
    *_forms("age-key", r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}", "AGE-SECRET-KEY-1"),
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
    *_forms("jwt", r"[\w-]{12,8000}\.eyJ[\w-]{8,16000}(?:\.[\w-]{8,4000})?", "eyJ"),
)
"""Keys that begin with a head of their own. A head counts only where a word may begin."""

LED: tuple[tuple[str, str], ...] = (
    ("sendgrid-key", r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    ("doppler-token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,80}"),
    ("vault-token", r"hv[sbr]\.[\w-]{24,400}"),
    ("dynatrace-token", r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("terraform-token", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}"),
    ("telegram-token", r"\d{5,16}:A[\w-]{34}(?![\w-])"),
    ("openshift-token", r"sha256~[\w-]{43}"),
    ("harness-token", r"(?:pat|sat)\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    ("google-oauth-token", r"ya29\.[\w.-]{20,500}"),
    ("airtable-token", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("cloudflare-key", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    ("slack-token", r"xoxe\.xox[bp]-[A-Za-z0-9-]{10,255}"),
)
"""Keys whose long part follows a `.`, a `~` or a `:`."""
LED_BY = re.compile(r"SG\.|dp\.|hv[sbr]\.|dt0|\.atlasv1\.|\d:A|sha256~|[ps]at|ya29\.|v1\.0-|xoxe\.")
"""What each of them holds before its long part, or at the beginning of it."""

DISCORD = re.compile(r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])")
MAILCHIMP = re.compile(r"[0-9a-f]{32}-us\d{1,2}(?![\w-])")
MAXMIND = re.compile(r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![\w-])")

AZURE_CLIENT_SECRET = re.compile(r"(?<![\w~.])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])")
WEBHOOK = re.compile(
    r"hooks\.slack\.com/(?:services|workflows|triggers)/(T[\w/]{20,80})"
    r"|discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{16,20}/([\w-]{60,80})"
    r"|\.webhook\.office\.com/webhookb2/([\w@-]{36,80}/IncomingWebhook/[\w/-]{32,120})",
    re.ASCII,
)
PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:((?:[^-]|-(?!----)){0,16384})-----END [A-Z0-9 ]{0,60}-----"
    r"|((?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,}+(?![^\s\\\"'])){1,400}))"
)
"""To its last line, or, where that is missing, as far as its body goes."""
KEY_MATERIAL = re.compile(r"[A-Za-z0-9+/]{32}")
