"""``shadowzarr relocate``: what it prints and how it ends."""

import h5py
import numpy as np
import pytest

from shadowzarr import generate_rfs, verify_rfs, write_rfs
from shadowzarr.cli import main


@pytest.fixture
def moved(tmp_path):
    with h5py.File(tmp_path / "old.h5", "w") as file:
        file.create_dataset("x", data=np.arange(1000), chunks=(100,))
    write_rfs(generate_rfs(tmp_path / "old.h5"), tmp_path / "refs")
    (tmp_path / "old.h5").rename(tmp_path / "new.h5")
    return tmp_path


def relocate(folder, *more, to="new.h5"):
    return main(
        ["relocate", str(folder / "refs"), "--from", f"{folder}/old.h5", "--to", f"{folder}/{to}", *more]
    )


def test_it_says_what_it_would_do_and_does_it(moved, capsys):
    assert relocate(moved, "--dry-run") == 0
    out = capsys.readouterr().out
    assert f"{moved}/old.h5 -> {moved}/new.h5" in out
    assert "1 file (size is the same; no ETag to compare), would change in 2 places" in out
    assert relocate(moved) == 0
    assert "changed in 2 places" in capsys.readouterr().out
    assert verify_rfs(moved / "refs", mode="full").equal


def test_a_file_that_is_not_there(moved, capsys):
    assert relocate(moved, to="gone.h5") == 1
    assert "gone.h5" in capsys.readouterr().err
    assert relocate(moved, "--no-check", to="gone.h5") == 0
    assert "not checked" in capsys.readouterr().out


def test_a_call_without_prefixes(moved, capsys):
    assert main(["relocate", str(moved / "refs")]) == 2
    assert "needs FROM" in capsys.readouterr().err
