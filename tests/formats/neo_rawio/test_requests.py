"""A recording of 100 GB: a document of a few kilobytes, and reads that ask for what they need."""

import os
from pathlib import Path

import pytest
from neo.rawio import RawBinarySignalRawIO

from shadowzarr.formats.neo_rawio.generate import generate_rfs_neo
from shadowzarr.store.open_rfs import open_rfs
from shadowzarr.testing import RangeServer
from shadowzarr.write import write_rfs

CHANNELS, RATE = 384, 30_000
ROW = 2 * CHANNELS


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sparse: nothing of it is stored."""
    path = tmp_path_factory.mktemp("large") / "a.raw"
    path.touch()
    os.truncate(path, 100 * 10**9 // ROW * ROW)
    return path


def reader(path: Path) -> RawBinarySignalRawIO:
    return RawBinarySignalRawIO(str(path), sampling_rate=float(RATE), nb_channel=CHANNELS)


def test_references_do_not_grow_with_the_recording(recording: Path, tmp_path: Path) -> None:
    write_rfs(generate_rfs_neo(reader(recording)), tmp_path / "out")
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert [path.name for path in files] == ["refs.json"]
    assert files[0].stat().st_size < 10 * 2**10


def test_references_to_a_probe_are_small(tmp_path: Path) -> None:
    import recordings_by_hand as hand
    from neo.rawio import SpikeGLXRawIO

    arguments = hand.spikeglx(tmp_path)
    (data,) = tmp_path.glob("*.bin")
    os.truncate(data, 100 * 10**9 // 770 * 770)
    meta = data.with_suffix(".meta")
    meta.write_text(meta.read_text().replace(f"={300 * 770}\n", f"={data.stat().st_size}\n"))
    write_rfs(generate_rfs_neo(SpikeGLXRawIO(**arguments)), tmp_path / "out")
    assert (tmp_path / "out" / "refs.json").stat().st_size < 10 * 2**10


def test_a_second_of_all_channels_is_a_request_for_each_slab(recording: Path) -> None:
    with RangeServer(recording.parent, etag=None) as server:
        array = open_rfs(generate_rfs_neo(reader(recording), url_for=lambda _: server.url("a.raw")))["0"]
        begin = array.shape[0] // 2 + 17
        server.log.clear()
        values = array[begin : begin + RATE]
        slab = array.chunks[0]
        slabs = (begin + RATE - 1) // slab - begin // slab + 1
        assert values.shape == (RATE, CHANNELS)
        assert server.log.count(status=206) == len(server.log) == slabs
        assert server.log.bytes_sent == RATE * ROW


def test_a_few_samples_of_a_stream_cost_their_bytes(tmp_path: Path) -> None:
    import recordings_by_hand as hand
    from neo.rawio import SpikeGLXRawIO

    arguments = hand.spikeglx(tmp_path, samples=9000)
    with RangeServer(tmp_path, etag=None) as server:
        rfs = generate_rfs_neo(
            SpikeGLXRawIO(**arguments), stream="imec0.ap", url_for=lambda path: server.url(Path(path).name)
        )
        array = open_rfs(rfs)["imec0.ap"]
        server.log.clear()
        assert (array[1000:1010] == hand.signal(10, 385, start=1000)[:, :384]).all()
        assert len(server.log) == 1
        assert server.log.bytes_sent <= 10 * 770
