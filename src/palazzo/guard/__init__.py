"""Whom and what to let in: trust by origin, secrets and private stretches, the host's own words. Pure functions.

`trust` labels what tools bring in. `secrets` finds credentials and `redact` replaces them by keyed marks; the archive's
door does not call them yet. `injected` recognises blocks that a host or Palazzo itself put into a conversation.
"""
