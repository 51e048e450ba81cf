"""What the tests of the store share: one small file of samples and documents that point into it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from shadowzarr import RfsBuilder
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.builder import columns_selection

HEADER = b"0123456789ab"


@dataclass(frozen=True)
class Recording:
    """A raw file: 12 bytes of header, then 1000 samples of 16 channels of int16."""

    path: Path
    data: np.ndarray

    def build(
        self, url: str | None = None, *, size: int | None = None, etag: str | None = None
    ) -> RfsBuilder:
        """The recording as slabs (`slabs`), by a chunk index (`indexed`) and as three columns (`columns`)."""
        url = url or str(self.path)
        builder = RfsBuilder()
        builder.add_group("", {"resolution": float("nan"), "name": "NaN", "digest": b"\xff\x00"})
        layout = {"url": url, "start": len(HEADER), "itemsize": 2}
        builder.add_array("slabs", shape=[1000, 16], data_type="int16", chunk_shape=[300, 16])
        builder.add_contiguous_chunks("slabs", shape=[1000, 16], chunk_shape=[300, 16], **layout)
        builder.add_array("group/indexed", shape=[1000, 16], data_type="int16", chunk_shape=[100, 16])
        builder.add_index("group/indexed", url, self.index())
        builder.add_array("columns", shape=[1000, 3], data_type="int16", chunk_shape=[300, 3])
        builder.add_selection("columns", *columns_selection(n_columns=16, itemsize=2, columns=[5, 1, 2]))
        builder.add_contiguous_chunks(
            "columns", shape=[1000, 3], chunk_shape=[300, 3], row_bytes=32, **layout
        )
        builder.add_source(url, size if size is not None else self.path.stat().st_size, etag)
        return builder

    def index(self) -> np.ndarray:
        """Index array of chunks of 100 samples; number 4 was never written."""
        index = np.stack([len(HEADER) + np.arange(10) * 3200, np.full(10, 3200)], axis=-1)
        index = index.astype(np.uint64).reshape(10, 1, 2)
        index[4] = 2**64 - 1
        return index

    def indexed(self) -> np.ndarray:
        """What the array with the index holds: chunk 4 is fill value."""
        values = self.data.copy()
        values[400:500] = 0
        return values


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    data = np.random.default_rng(0).integers(-(2**15), 2**15, (1000, 16), dtype=np.int16)
    path = tmp_path / "raw.bin"
    path.write_bytes(HEADER + data.tobytes())
    return Recording(path, data)


@pytest.fixture
def impatient() -> DefaultReader:
    """A reader that does not try again, so that failures are quick."""
    return DefaultReader(retries=RetryPolicy(attempts=1))
