"""The rules of `text/text_mentions`, by what they find."""
