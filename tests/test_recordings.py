"""Which recording a file or folder is: by how files begin, and names where nothing else tells."""

import re
import shutil

import pytest
from recordings_by_hand import tdt

from shadowzarr.errors import UnknownFormatError
from shadowzarr.recognition import recognize, unknown_format
from shadowzarr.recordings import READERS, find_recording, kind_of_head

MADE = {
    "spikeglx_g0": "SpikeGLXRawIO",
    "openephys_binary": "OpenEphysBinaryRawIO",
    "openephys_legacy": "OpenEphysRawIO",
    "neuralynx": "NeuralynxRawIO",
    "neuroscope": "NeuroScopeRawIO",
    "neuroscope/session.xml": "NeuroScopeRawIO",
    "neuronexus": "NeuroNexusRawIO",
    "mcs.raw": "RawMCSRawIO",
    "elan.eeg": "ElanRawIO",
    "micromed.TRC": "MicromedRawIO",
    "blackrock.ns2": "BlackrockRawIO",
    "intan_v1.rhd": "IntanRawIO",
    "intan_v3.rhd": "IntanRawIO",
    "winedr.EDR": "WinEdrRawIO",
    "winwcp.wcp": "WinWcpRawIO",
    "spikegadgets.rec": "SpikeGadgetsRawIO",
}


@pytest.mark.parametrize(("name", "reader"), MADE.items())
def test_what_reads_a_recording(made_files, name, reader):
    found = find_recording(made_files / "ephys" / name)
    assert found.kind.reader == reader
    assert found.kind.reader in READERS
    assert recognize(made_files / "ephys" / name) == "neo"


@pytest.mark.parametrize("name", ["maxwell/data.raw.h5", "biocam_plain.brw"])
def test_recordings_in_hdf5_files_are_hdf5_files(made_files, name):
    assert recognize(made_files / "ephys" / name) == "hdf5"


def test_files_of_public_recordings(shared):
    corpus = shared / "corpus" / "ephys"
    readers = {".abf": "AxonRawIO", ".vhdr": "BrainVisionRawIO", ".edf": "EDFRawIO", ".bdf": "EDFRawIO"}
    for path in (each for each in corpus.rglob("*") if each.suffix in readers):
        assert find_recording(path).kind.reader == readers[path.suffix], path
    assert find_recording(corpus / "ibl-neuropixel") is None  # metadata without signals


def test_a_folder_of_several_recordings_names_them(made_files, tmp_path):
    for name in ("intan_v1.rhd", "mcs.raw"):
        shutil.copy(made_files / "ephys" / name, tmp_path)
    with pytest.raises(
        UnknownFormatError, match=r"2 recordings: an Intan recording \(intan_v1.rhd\), a Multi"
    ):
        find_recording(tmp_path)
    (tmp_path / "mcs.raw").unlink()
    (tmp_path / "notes.txt").write_text("0       is not the beginning of an EDF file")
    assert find_recording(tmp_path).path == str(tmp_path / "intan_v1.rhd")


@pytest.fixture
def collection(made_files, tmp_path):
    """A folder of folders, each with a recording of another kind."""
    ephys = made_files / "ephys"
    for name, folder in (("spikeglx_g0", "a"), ("openephys_binary", "b"), ("neuralynx", "c/d")):
        shutil.copytree(ephys / name, tmp_path / folder)
    for name in ("blackrock.ns2", "intan_v1.rhd"):
        (tmp_path / name[:5]).mkdir()
        shutil.copy(ephys / name, tmp_path / name[:5])
    (tmp_path / "tank").mkdir()
    tdt(tmp_path / "tank")
    return tmp_path


def test_folders_with_recordings_are_named_so_that_they_can_be_given(collection):
    with pytest.raises(
        UnknownFormatError, match=r"holds 6 recordings: .* and 1 more; name one of them$"
    ) as e:
        find_recording(collection)
    for name in ("SpikeGLX recording (a)", "Open Ephys recording (binary format) (b)"):
        assert name in str(e.value)
    shutil.rmtree(collection / "a")
    with pytest.raises(UnknownFormatError, match="holds 5 recordings: ") as e:
        recognize(collection)
    named = re.findall(r"\(([^() ]+)\)[,;]", str(e.value))
    assert sorted(named) == ["b", "black/blackrock.ns2", "c/d", "intan/intan_v1.rhd", "tank/Block-1"]
    assert [find_recording(collection / name).kind.reader for name in sorted(named)] == [
        "OpenEphysBinaryRawIO", "BlackrockRawIO", "NeuralynxRawIO", "IntanRawIO", "TdtRawIO",
    ]  # fmt: skip


def test_one_recording_further_down_is_named(collection):
    with pytest.raises(UnknownFormatError, match=r"a Neuralynx recording \(d\); name that"):
        recognize(collection / "c")


def test_what_lies_in_the_folder_itself_comes_first(collection, made_files):
    shutil.copytree(collection / "c", collection / "a" / "inside")
    assert find_recording(collection / "a").kind.reader == "SpikeGLXRawIO"
    shutil.copy(made_files / "ephys" / "neuralynx" / "CSC2.ncs", collection / "a")
    with pytest.raises(UnknownFormatError, match=r"\(files of the folder itself\).*reader of neo\.rawio"):
        find_recording(collection / "a")


def test_a_part_of_a_recording_names_what_to_give(made_files):
    ephys = made_files / "ephys"
    for name in ("spikeglx_g0/spikeglx_g0_t0.imec0.ap.bin", "openephys_legacy/100_CH1.continuous"):
        with pytest.raises(UnknownFormatError, match="which NEO reads by its folder; name that"):
            find_recording(ephys / name)
    found = find_recording(ephys / "neuralynx" / "CSC2.ncs")
    assert found.all_arguments() == {
        "dirname": str(ephys / "neuralynx"),
        "include_filenames": ["CSC2.ncs"],
    }


def test_what_a_file_elsewhere_is_called():
    assert kind_of_head(b"\x1a\x00(C) CED 87 and more").reader == "Spike2RawIO"
    assert kind_of_head(b"0       ") is None
    assert "is an Axon recording (ABF), which NEO reads from local files only" in str(
        unknown_format("https://host/a.abf?secret", b"ABF2")
    )


def test_neither_files_nor_folders_without_recordings(tmp_path):
    (tmp_path / "a.xml").write_text("<parameters>")
    (tmp_path / "b.rec").write_bytes(b"")
    (tmp_path / "c.meta").write_text("typeThis=imec")
    assert find_recording(tmp_path) is None
    assert find_recording(tmp_path / "nothing") is None
