"""The feature `feedback`: what persons and agents judge about memories."""
