"""The names under which history readers query the trust of a tool's output (`security/tool_trust`)."""

from palazzo.security.tool_trust import is_shell, trust_of_tool

__all__ = ["is_shell", "trust_of_tool"]
