"""Whom and what to let in: trust by origin, secrets and private stretches, the host's own words. Pure functions.

`trust` labels what tools bring in. `secrets` finds credentials, `suspicion` says which of many texts want a look, and
`redact` puts keyed marks in their place; the archive's door calls them. `injected` recognises blocks that a host or
Palazzo itself put into a conversation, `memory_tools` and `memory_commands` the tools and command lines that answer
with what was said before.
"""
