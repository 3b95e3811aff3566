"""The hook face: from a host's payload to an operation and back, in time and whatever fails."""
