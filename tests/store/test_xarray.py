"""xarray reads references as it reads any Zarr store."""

import numpy as np
import pytest

from shadowzarr import RfsBuilder, RfsStore
from shadowzarr.testing import RangeServer

xarray = pytest.importorskip("xarray")


@pytest.fixture
def dataset(tmp_path):
    """A server, the references of two arrays in one file, and what they hold."""
    data = np.random.default_rng(5).integers(0, 1000, (300, 1000), dtype=np.int16)
    slab = np.random.default_rng(6).integers(0, 1000, (4, 2**20), dtype=np.int16)
    (tmp_path / "raw.bin").write_bytes(data.tobytes() + slab.tobytes())
    with RangeServer(tmp_path) as server:
        url = server.url("raw.bin")
        builder = RfsBuilder()
        builder.add_group("", {"title": "records", "resolution": float("nan")})
        names = {"data_type": "int16", "dimension_names": ["record", "sample"]}
        builder.add_array("records", shape=[300, 1000], chunk_shape=[1, 1000], **names)
        for i in range(300):
            builder.add_chunk("records", (i, 0), url, i * 2000, 2000)
        names["dimension_names"] = ["part", "time"]
        builder.add_array("slabs", shape=[4, 2**20], chunk_shape=[1, 2**20], **names)
        builder.add_contiguous_chunks(
            "slabs", url=url, start=600_000, shape=[4, 2**20], chunk_shape=[1, 2**20], itemsize=2
        )
        yield server, RfsStore(builder.build()), data, slab


def test_it_opens_without_a_request_and_reads_in_few(dataset):
    server, store, data, slab = dataset
    with xarray.open_zarr(store, chunks=None) as opened:
        assert np.isnan(opened.attrs["resolution"])
        assert len(server.log) == 0
        np.testing.assert_array_equal(opened.records.values, data)
        assert len(server.log) == 1
        server.log.clear()
        np.testing.assert_array_equal(
            opened.slabs.isel(part=2, time=slice(500, 600)).values, slab[2, 500:600]
        )
        assert (len(server.log), server.log.bytes_sent) == (1, 200)
