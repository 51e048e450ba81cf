"""The tests of recordings need NEO."""

import pytest

pytest.importorskip("neo")
