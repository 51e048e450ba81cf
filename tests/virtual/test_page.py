"""docs/virtual-arrays.md: its examples run, its numbers are those of the code, its links lead somewhere."""

import re
from pathlib import Path

import numpy as np
import pytest

from shadowzarr import RfsBuilder, open_rfs
from shadowzarr.refs.chunk_index import CHUNK_INDEX_THRESHOLD
from shadowzarr.refs.slabs import CONTIGUOUS_CHUNK_BYTES
from shadowzarr.virtual.chunk_bytes import MOST_RANGES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "virtual-arrays.md"
TEXT = PAGE.read_text(encoding="utf-8")
N_SAMPLES, N_PACKETS = 40_000, 700


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The folder of the files that the examples are about, and what these hold."""
    folder, rng = tmp_path_factory.mktemp("page"), np.random.default_rng(0)
    raw = rng.integers(-(2**15), 2**15, (N_SAMPLES, 385), dtype="<i2")
    raw.tofile(folder / "run_g0_t0.imec0.ap.bin")
    channels = rng.integers(-(2**15), 2**15, (4, N_SAMPLES), dtype="<i2")
    for number, channel in enumerate(channels, start=1):
        (folder / f"CSC{number}.dat").write_bytes(bytes(16384) + channel.tobytes())
    packets = np.zeros(N_PACKETS, [("header", "u1", 13), ("samples", "<i2", 64)])
    packets["samples"] = rng.integers(-999, 999, (N_PACKETS, 64))
    (folder / "packets.dat").write_bytes(b"h" * 100 + packets.tobytes())
    count = -(-N_SAMPLES // 60)
    blocks = rng.integers(0, 2**16, (count, 192, 60), dtype="<u2")
    data = b"".join(b"b" * 1332 + block.tobytes() for block in blocks)
    (folder / "blocks.rhd").write_bytes(b"h" * 4096 + data)
    pages = rng.integers(0, 2**16, (10, 64, 48), dtype="<u2")
    (folder / "pages.bin").write_bytes(b"h" * 512 + pages.tobytes())
    stored = blocks.transpose(1, 0, 2).reshape(192, -1)[:, :N_SAMPLES]
    return folder, {"raw": raw, "channels": channels, "packets": packets, "stored": stored, "pages": pages}


@pytest.fixture(scope="module")
def names(files):
    """What the examples, run in their order, leave behind; each example's names by its number."""
    folder, _ = files
    found: dict[str, object] = {"n_samples": N_SAMPLES, "n_packets": N_PACKETS}
    after = []
    examples = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for number, example in enumerate(examples):
            exec(compile(example, f"docs/virtual-arrays.md, example {number}", "exec"), found)
            after.append(dict(found))
    return after


def shown(array, index=...):
    builder = RfsBuilder()
    array.add_to(builder, "a")
    return open_rfs(builder.build())["a"][index]


def test_a_recording_without_its_sync_channel(names, files):
    folder, values = files
    root = open_rfs(folder / "run_g0_t0.shadowzarr")
    np.testing.assert_array_equal(root["neural"][900:1100], values["raw"][900:1100, :384])
    np.testing.assert_array_equal(root["sync"][...], values["raw"][:, 384])
    np.testing.assert_array_equal(
        shown(names[0]["first_second"], np.s_[-5:]), values["raw"][29_995:30_000, :384]
    )


def test_one_file_per_channel(names, files):
    _, values = files
    np.testing.assert_array_equal(shown(names[1]["signal"]), values["channels"].T)
    np.testing.assert_array_equal(shown(names[2]["day"]), values["channels"].T[:35_000])


def test_packets_and_blocks(names, files):
    _, values = files
    np.testing.assert_array_equal(shown(names[3]["packets"]), values["packets"]["samples"])
    np.testing.assert_array_equal(shown(names[3]["same"]), values["packets"]["samples"])
    np.testing.assert_array_equal(shown(names[4]["signal"], np.s_[-130:]), values["stored"].T[-130:])


def test_pages(names, files):
    _, values = files
    np.testing.assert_array_equal(shown(names[5]["movie"]), values["pages"][::2].transpose(0, 2, 1))
    assert len(names) == 6


def test_numbers_are_those_of_the_code():
    assert f"at most {MOST_RANGES:,} pieces" in TEXT
    assert f"more than {CHUNK_INDEX_THRESHOLD:,} of one file" in TEXT
    assert f"more than {CONTIGUOUS_CHUNK_BYTES // 2**20} MiB" in TEXT


def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    assert links
    for link in links:
        assert (PAGE.parent / link).exists(), link
