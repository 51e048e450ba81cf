"""What references give of a TIFF file, beside what tifffile gives."""

import json
import os
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

from shadowzarr.attributes import decode_attributes
from shadowzarr.errors import ShadowzarrError
from shadowzarr.formats.tiff.generate import generate_rfs_tiff
from shadowzarr.store.open_rfs import open_rfs


class ReadBack:
    """References for a file, opened."""

    def __init__(self, source: str | os.PathLike[str], **options: Any) -> None:
        self.rfs: dict[str, Any] = generate_rfs_tiff(source, **options)
        self.root = open_rfs(self.rfs)

    def __getitem__(self, path: str) -> np.ndarray:
        return self.root[path][...]

    def metadata(self, path: str = "") -> dict[str, Any]:
        return json.loads(self.rfs["refs"][f"{path}/zarr.json" if path else "zarr.json"])

    def attributes(self, path: str = "") -> dict[str, Any]:
        return decode_attributes(self.metadata(path)["attributes"])

    def codecs(self, path: str = "0") -> list[str]:
        return [codec["name"] for codec in self.metadata(path)["codecs"]]

    def chunk_shape(self, path: str = "0") -> list[int]:
        return self.metadata(path)["chunk_grid"]["configuration"]["chunk_shape"]

    def chunks(self, path: str = "0") -> dict[str, Any]:
        """References and inline values of an array, by the part of the key after ``c``."""
        head = f"{path}/c/"
        return {key.removeprefix(head): v for key, v in self.rfs["refs"].items() if key.startswith(head)}

    def arrays(self) -> list[str]:
        keys = [key.removesuffix("/zarr.json") for key in self.rfs["refs"] if key.endswith("/zarr.json")]
        return [key for key in keys if self.metadata(key)["node_type"] == "array"]

    def skipped(self) -> dict[str, str]:
        return {entry["path"]: entry["reason"] for entry in self.rfs.get("skipped", [])}

    def converted(self) -> dict[str, str]:
        return {entry["path"]: entry["what"] for entry in self.rfs.get("converted", [])}


UNREADABLE = (ValueError, RuntimeError)
"""What tifffile raises for pages that it cannot read: its own error is the one, imagecodecs' the other."""

DECODING_FAILED = (ShadowzarrError, zlib.error, RuntimeError, ValueError)
"""What reading damaged segments through references raises: our own error, that of a codec's library, which of
imagecodecs is a RuntimeError, or of zarr-python, when a codec that is not ours gives more or fewer bytes."""


def levels(path: str | os.PathLike[str]) -> dict[str, np.ndarray | None]:
    """Values of each level of each series as tifffile reads them; None where it cannot."""
    found: dict[str, np.ndarray | None] = {}
    with tifffile.TiffFile(path) as tif, warnings.catch_warnings():
        for number, series in enumerate(tif.series):
            for level, pages in enumerate(series.levels):
                name = str(number) if len(series.levels) == 1 else f"{number}/{level}"
                try:
                    found[name] = pages.asarray()
                except UNREADABLE:
                    found[name] = None
    return found


def assert_same(path: Path, back: ReadBack | None = None, *, left_out: int | None = 0) -> ReadBack:
    """Every level that is not left out by name equals tifffile's, bit for bit.

    ``left_out`` is the number of levels that are; None for any number. Then what tifffile cannot read must
    not be readable either.
    """
    back = back or ReadBack(path)
    wanted = levels(path)
    missing = {f"/{name}" for name in wanted} - {f"/{name}" for name in back.arrays()}
    assert missing <= back.skipped().keys()
    assert left_out is None or len(missing) == left_out
    for name in back.arrays():
        want = wanted[name]
        if want is None and left_out is None:
            with pytest.raises(DECODING_FAILED):
                back[name]
            continue
        assert want is not None, name
        got = back[name]
        assert (got.shape, got.dtype) == (want.shape, want.dtype), name
        assert got.tobytes() == want.tobytes(), name
    return back
