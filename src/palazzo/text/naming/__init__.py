"""The rules of `text/text_mentions`, grouped by the kind of name that they find."""
