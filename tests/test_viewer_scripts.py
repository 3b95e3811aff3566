"""The viewer's built scripts are those of their TypeScript sources."""

from __future__ import annotations

import shutil

import pytest
from tools import make_viewer


def test_built_files_name_their_present_sources() -> None:
    assert make_viewer.stale_files() == []


@pytest.mark.slow
def test_sources_have_no_type_errors_and_give_the_built_files_to_the_byte() -> None:
    if shutil.which("npm") is None:
        pytest.skip("NOT RUN: npm, which brings TypeScript and esbuild, is not installed.")
    assert make_viewer.main(["--rebuild"]) == 0
