"""The names by which the readers of histories ask whom to believe for a tool's output (`security/tool_trust`)."""

from palazzo.security.tool_trust import is_shell, trust_of_tool

__all__ = ["is_shell", "trust_of_tool"]
