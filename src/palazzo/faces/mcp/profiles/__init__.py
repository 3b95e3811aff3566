"""Compatibility profiles: other memories' tool names over Palazzo's operations. Their clients work unchanged."""
