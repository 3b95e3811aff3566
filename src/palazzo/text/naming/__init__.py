"""The rules of `text/mentions`, by what they find."""
