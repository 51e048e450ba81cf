"""The tests of recordings need NEO, whose readers leave closing their files to the collector."""

import gc
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("neo")

UNCLOSED = "ignore:unclosed file:ResourceWarning"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.filterwarnings(UNCLOSED))


@pytest.fixture(scope="module", autouse=True)
def _collected() -> Iterator[None]:
    """Let the collector close what is left, before other tests turn warnings of it into errors."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
