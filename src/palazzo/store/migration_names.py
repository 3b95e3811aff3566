"""The names of the migrations, in order: the one list of them, which a hook loads in a millisecond.

`schema` has a function of each name. A palace whose migrations are not all in this list was written by a later Palazzo.
Whoever adds a name checks that `readonly_palace` still reads the tables correctly.
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
)
