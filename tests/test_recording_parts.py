"""What messages say of recordings that are not whole, and of their parts."""

import h5py
import pytest
from chained_recordings_by_hand import axona
from recordings_by_hand import brain_vision, neuroscope, spikeglx, tdt

from shadowzarr import generate_rfs_neo
from shadowzarr.errors import UnknownFormatError
from shadowzarr.formats.neo_rawio.opening import open_reader
from shadowzarr.recognition import recognize
from shadowzarr.recording_parts import hint_for, is_of_recording

STEM = "r_g0_t0.imec0.ap"


@pytest.mark.parametrize(
    ("write", "removed", "left", "message"),
    [
        (spikeglx, f"{STEM}.meta", f"{STEM}.bin", rf"{STEM}\.meta, what describes them, is missing"),
        (spikeglx, f"{STEM}.bin", f"{STEM}.meta", rf"{STEM}\.bin, its samples, is missing"),
        (axona, "a.bin", "a.set", r"an Axona recording, and a\.bin, its samples, is missing"),
    ],
)
def test_what_is_missing_is_said(tmp_path, write, removed, left, message):
    write(tmp_path)
    (tmp_path / removed).unlink()
    for place, begin in ((tmp_path / left, "cannot be read alone"), (tmp_path, "without a whole recording")):
        with pytest.raises(UnknownFormatError, match=f"{begin}: .*{message}"):
            recognize(place)
        with pytest.raises(UnknownFormatError, match=message):
            open_reader(str(place))


@pytest.mark.parametrize(
    ("write", "part", "first"),
    [
        (axona, "a.bin", "a.set"),
        (neuroscope, "a.dat", "a.xml"),
        (brain_vision, "a.eeg", "a.vhdr"),
    ],
)
def test_a_part_names_the_first_file(tmp_path, write, part, first):
    write(tmp_path)
    with pytest.raises(
        UnknownFormatError, match=f"{part} cannot be read alone: it is a part of an? .*; name {first}$"
    ):
        recognize(tmp_path / part)
    assert is_of_recording(tmp_path / part)
    assert recognize(tmp_path / first) == "neo"
    assert generate_rfs_neo(open_reader(str(tmp_path / first)))["refs"]


def test_a_part_of_a_block_names_its_index(tmp_path):
    tdt(tmp_path)
    (part,) = tmp_path.glob("*/*.tev")
    assert hint_for(part) == f"it is a part of a TDT recording; name {part.stem}.tsq"


def test_other_files_are_parts_of_none(tmp_path):
    (tmp_path / "a.bin").write_bytes(bytes(100))
    (tmp_path / "b.meta").write_text("text")
    (tmp_path / "c.set").write_text("text")
    (tmp_path / "d.dat").write_bytes(bytes(100))
    (tmp_path / "d.xml").write_text("<settings/>")
    with h5py.File(tmp_path / "e.h5", "w") as file:
        file["x"] = [1]
    for path in (tmp_path, *tmp_path.iterdir()):
        assert hint_for(path) is None
        assert not is_of_recording(path)
