"""Questions about code and errors: files, fixes of errors, working commands, recurring failures."""
