"""Every format is read whole and right: conversations written as each host writes them, and read back.

    PYTHONPATH=src pytest tests/fidelity -m "not slow"      100 conversations per format, and the fuzzing's small size
    PYTHONPATH=src pytest tests/fidelity -m slow            1,000 per format
    PALAZZO_FIDELITY=10 … -m slow                           10,000 per format, by hand per release

The writers (`hosts`, `exports`, `kept`) follow each format's description and know nothing of the feeders.
"""
