"""An archive that changes, so that there is always something to index."""

import itertools
import random
from collections.abc import Callable
from pathlib import Path

from work_to_kill import DANDISET

from shadowzarr.testing import Archive

ASSETS = 3


class ChangingArchive:
    """Replaces two assets of a small archive at a time, and adds or removes one.

    Parameters
    ----------
    archive : Archive
        What is changed.
    write_file : callable
        Writes a small file at a path, another one for each ``seed``.
    folder : Path
        Where files are written.
    """

    def __init__(self, archive: Archive, write_file: Callable[..., Path], folder: Path) -> None:
        self._archive, self._write_file, self._folder = archive, write_file, folder
        self._random, self._seeds = random.Random(0), itertools.count(100)

    def change(self) -> None:
        present = sorted(asset.path for asset in self._archive.assets(DANDISET, "draft"))
        for path in self._random.sample(present, min(2, len(present))):
            self._archive.replace_asset(DANDISET, path, self._new_file())
        if len(present) > ASSETS:
            self._archive.remove_asset(DANDISET, self._random.choice(present))
        else:
            self._archive.add_asset(DANDISET, f"new/{next(self._seeds)}.nwb", self._new_file())

    def _new_file(self) -> Path:
        seed = next(self._seeds)
        return self._write_file(self._folder / f"{seed}.nwb", seed=seed)
