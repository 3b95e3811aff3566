"""`python -m palazzo.faces.cli`, for when the console script is not on the path."""

from __future__ import annotations

import sys

from palazzo.faces.cli import main

sys.exit(main())
