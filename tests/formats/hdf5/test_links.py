from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np


def test_entries_name_the_node_that_exists(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["g/x"] = np.arange(3)
        f["g/again"] = f["g/x"]
        f["soft"] = h5py.SoftLink("/g")
        f["through"] = h5py.SoftLink("/soft/again")
        f["g/up"] = f["/"]
    made = generate()
    assert made.attributes()["_LINKS"] == [
        {"name": "soft", "source": ".", "path": "/g"},
        {"name": "through", "source": ".", "path": "/g/again"},
    ]
    assert made.attributes("g")["_LINKS"] == [
        {"name": "up", "source": ".", "path": "/"},
        {"name": "x", "source": ".", "path": "/g/again"},
    ]
    assert made["g/again"].tolist() == [0, 1, 2]


def test_links_that_lead_nowhere_are_named(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["dangling"] = h5py.SoftLink("/nothing")
        f["outside"] = h5py.ExternalLink("other.h5", "/a")
        f["type"] = np.dtype("i4")
        f["to_type"] = h5py.SoftLink("/type")
        f["bad"] = h5py.SoftLink("/g/swapped")
        f.create_dataset("g/swapped", (1,), h5py.vlen_dtype(np.dtype(">i4")))
    made = generate()
    assert "_LINKS" not in made.attributes()
    skipped = made.skipped()
    assert "where nothing is" in skipped["/dangling"]
    assert "other.h5" in skipped["/outside"]
    assert "/type has no node" in skipped["/to_type"]
    assert "/g/swapped has no node" in skipped["/bad"]
    assert "swapped" in skipped["/g/swapped"]
    assert set(skipped) == {"/dangling", "/outside", "/to_type", "/bad", "/g/swapped"}
