"""The names of the migrations, in order.

`schema` has a function of each name. A palace whose migrations are not all in this list was written by a later Palazzo.
"""

MIGRATION_NAMES = (
    "m001_first",
    "m002_tokens",
    "m003_calls",
    "m004_hooks",
    "m005_people",
    "m006_mendings",
    "m007_uses",
    "m008_counts",
    "m009_anchors",
    "m010_fact_trust",
    "m011_outside",
    "m012_fact_branch",
    "m013_exchange",
    "m014_dead_letters",
    "m015_foreign",
    "m016_sync_devices",
    "m017_done_here",
    "m018_source_headings",
    "m019_live_counts",
    "m020_heading_vectors",
)
