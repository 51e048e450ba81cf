"""What can be asked for, what is written down, and what is refused by one message."""

import json
import warnings
from pathlib import Path

import intan_by_hand as intan
import numpy as np
import pytest
import recordings_by_hand as hand
from neo import rawio
from neo_reading import assert_same

from shadowzarr.errors import DamagedSourceError, ShadowzarrError, UnsupportedError, UsageError
from shadowzarr.formats.neo_rawio.generate import generate_rfs_neo
from shadowzarr.formats.neo_rawio.virtual_arrays import virtual_arrays_neo
from shadowzarr.store.open_rfs import open_rfs


@pytest.fixture
def probe(tmp_path: Path) -> rawio.SpikeGLXRawIO:
    return rawio.SpikeGLXRawIO(**hand.spikeglx(tmp_path))


@pytest.fixture
def sweeps(tmp_path: Path) -> rawio.WinWcpRawIO:
    return rawio.WinWcpRawIO(**hand.winwcp(tmp_path))


def attributes(rfs: dict, path: str = "") -> dict:
    return json.loads(rfs["refs"][f"{path}/zarr.json" if path else "zarr.json"])["attributes"]["neo"]


def test_the_attribute_of_an_array(probe: rawio.SpikeGLXRawIO) -> None:
    about = attributes(generate_rfs_neo(probe), "imec0.ap")
    neural, sync = about["streams"]
    assert about["buffer_id"] == "imec0.ap"
    assert (neural["id"], neural["columns"]) == ("imec0.ap", {"start": 0, "stop": 384})
    assert (sync["id"], sync["columns"]) == ("imec0.ap-SYNC", {"start": 384, "stop": 385})
    assert (neural["sampling_rate"], neural["t_start"], neural["units"]) == (30000.0, 0.0, "uV")
    assert neural["channel_names"][:2] == ["AP0", "AP1"]
    assert neural["channel_ids"] == {"prefix": "imec0.ap#"}


def test_the_attribute_of_the_root(probe: rawio.SpikeGLXRawIO, tmp_path: Path) -> None:
    about = attributes(generate_rfs_neo(probe))
    assert (about["reader"], about["path"]) == ("SpikeGLXRawIO", str(tmp_path))
    hosted = generate_rfs_neo(
        probe, url_for=lambda path: f"https://host/{Path(path).name}", stream="imec0.ap-SYNC"
    )
    assert attributes(hosted).keys() == {"reader", "neo_version", "chosen"}
    assert str(tmp_path) not in json.dumps(hosted["refs"])
    assert hosted["sources"] == {"https://host/r_g0_t0.imec0.ap.bin": {"size": 300 * 770}}


def test_a_negative_gain_stays_negative(tmp_path: Path) -> None:
    rfs = assert_same(rawio.NeuralynxRawIO(**hand.neuralynx(tmp_path)))
    (stream,) = attributes(rfs, "0")["streams"]
    assert stream["gain"] < 0
    assert (open_rfs(rfs)["0"][:5, 0] == hand.signal(5, 2)[:, 0]).all()


def test_streams_segments_and_blocks_are_chosen(
    sweeps: rawio.WinWcpRawIO, probe: rawio.SpikeGLXRawIO
) -> None:
    def arrays(rfs: dict) -> list[str]:
        return [key.removesuffix("/zarr.json") for key, text in rfs["refs"].items() if '"array"' in text]

    assert arrays(generate_rfs_neo(sweeps, segment=1)) == ["block0/segment1/0"]
    assert len(arrays(generate_rfs_neo(sweeps, block=0))) == 3
    assert arrays(generate_rfs_neo(probe, stream=["imec0.ap-SYNC", "imec0.ap"])) == [
        "imec0.ap-SYNC",
        "imec0.ap",
    ]
    assert list(virtual_arrays_neo(sweeps)) == [f"block0/segment{n}/0" for n in range(3)]
    assert list(virtual_arrays_neo(sweeps, block=0, segment=2)) == ["0"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stream": "x"}, "has no stream 'x'; its streams are 'imec0.ap', 'imec0.ap-SYNC'"),
        ({"block": 1}, "has no block 1: block 0 has 1 segment, counted from 0"),
        ({"segment": -1}, "has no segment -1: block 0 has"),
        ({"block": 0, "segment": 7}, "has no block 0 with segment 7: block 0 has"),
        ({"on_unsupported": "copy"}, 'expected "skip" or "error"'),
        ({"url_for": lambda path: None}, "url_for gave None"),
    ],
)
def test_what_cannot_be_asked_for(probe: rawio.SpikeGLXRawIO, options: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        generate_rfs_neo(probe, **options)


def test_what_is_no_reader() -> None:
    for function in (generate_rfs_neo, virtual_arrays_neo):
        with pytest.raises(UsageError, match="expected one of the readers of neo.rawio, found a str"):
            function("folder")


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    reader = rawio.IntanRawIO(**intan.header_attached(tmp_path))
    with pytest.raises(UnsupportedError, match="/4: NEO computes its values: 16 digital channels"):
        generate_rfs_neo(reader, on_unsupported="error")
    arrays = virtual_arrays_neo(reader)
    assert list(arrays.left_out) == ["4"]
    with pytest.raises(UnsupportedError, match="stream '4' cannot be referenced: NEO computes"):
        arrays["4"]
    with pytest.raises(KeyError):
        arrays["5"]


def test_a_virtual_array_of_a_stream_can_be_cut(probe: rawio.SpikeGLXRawIO) -> None:
    array = virtual_arrays_neo(probe)["imec0.ap"]
    assert array.shape == (300, 384)
    assert array.attributes["gain"] == [array.attributes["gain"][0]] * 384
    assert array[100:200, ::2].shape == (100, 192)


def test_a_file_that_became_shorter_is_refused(tmp_path: Path) -> None:
    arguments = hand.raw_binary(tmp_path)
    reader = rawio.RawBinarySignalRawIO(**arguments)
    reader.parse_header()
    path = Path(arguments["filename"])
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(UnsupportedError, match="has 4,999 bytes, and its samples would end at byte 5,000"):
        generate_rfs_neo(reader)


@pytest.mark.parametrize(
    "make", [hand.edf, hand.micromed, hand.blackrock, hand.winwcp, hand.spikegadgets, intan.header_attached]
)
@pytest.mark.parametrize("part", [0, 0.01, 0.3, 0.9])
def test_a_recording_that_ends_anywhere_is_right_or_one_error(tmp_path: Path, make, part: float) -> None:
    readers = {hand.edf: "EDF", hand.micromed: "Micromed", hand.blackrock: "Blackrock", hand.winwcp: "WinWcp"}
    reader = readers.get(make, "SpikeGadgets" if make is hand.spikegadgets else "Intan")
    arguments = make(tmp_path)
    (path,) = (each for each in tmp_path.iterdir())
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assert_same(getattr(rawio, f"{reader}RawIO")(**arguments), left_out=None)
        except ShadowzarrError as error:
            message = str(error)
            assert "\n" not in message
            assert str(tmp_path) in message


def test_a_header_of_lies_is_one_error(tmp_path: Path) -> None:
    arguments = hand.neuronexus(tmp_path)
    path = Path(arguments["filename"])
    about = json.loads(path.read_text())
    about["status"]["shape"] = [10**15, 5]
    path.write_text(json.dumps(about))
    with pytest.raises((DamagedSourceError, UnsupportedError), match="cut short|cannot read it"):
        generate_rfs_neo(rawio.NeuroNexusRawIO(**arguments))
    about["status"]["shape"] = [-5, 5]
    path.write_text(json.dumps(about))
    with pytest.raises(ShadowzarrError):
        generate_rfs_neo(rawio.NeuroNexusRawIO(**arguments))


def test_values_beside_a_segment_are_not_read(tmp_path: Path) -> None:
    reader = rawio.BlackrockRawIO(**hand.blackrock(tmp_path, blocks=(300, 200), gap_tolerance_ms=1.0))
    root = open_rfs(generate_rfs_neo(reader))
    first, second = root["block0/segment0/2"][:], root["block0/segment1/2"][:]
    assert np.array_equal(np.concatenate([first, second]), hand.signal(500, 4))
