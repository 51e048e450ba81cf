"""Which files are one recording: those of every kind that is written here, and what lies beside them."""

import chained_recordings_by_hand as chained
import intan_by_hand as intan
import pytest
import recordings_by_hand as hand

from shadowzarr.recording_files import file_recordings, folder_recording, recording_at

FOLDERS = {
    hand.spikeglx: 2,
    hand.open_ephys_binary: 5,
    hand.open_ephys_legacy: 3,
    hand.neuralynx: 2,
    hand.tdt: 4,
}
FILES = {
    hand.brain_vision: ("a.vhdr", 3),
    hand.elan: ("a.eeg", 3),
    hand.neuroscope: ("a.xml", 2),
    hand.neuronexus: ("a.xdat.json", 3),
    hand.mcs_raw: ("a.raw", 1),
    hand.micromed: ("a.TRC", 1),
    hand.blackrock: ("a.ns2", 1),
    hand.spikegadgets: ("a.rec", 1),
    hand.edf: ("a.edf", 1),
    hand.winedr: ("a.EDR", 1),
    hand.winwcp: ("a.wcp", 1),
    hand.neuroexplorer: ("a.nex", 1),
    chained.spike2: ("a.smr", 1),
    chained.axona: ("a.set", 2),
    chained.axograph: ("a.axgd", 1),
    intan.header_attached: ("a.rhd", 1),
    intan.file_per_signal: ("info.rhd", 7),
}


def names(folder):
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("write", FOLDERS)
def test_a_folder_is_a_recording_of_its_files(write, tmp_path):
    write(tmp_path)
    folder = tmp_path / "Block-1" if write is hand.tdt else tmp_path
    (folder / "notes.txt").write_text("beside")
    (folder / ".hidden.bin").write_text("hidden")
    found = folder_recording(folder, names(folder))
    assert (found.place, len(found.parts)) == (folder, FOLDERS[write])
    assert recording_at(folder) == found
    assert found.size == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) - 12


@pytest.mark.parametrize("write", FILES)
def test_a_first_file_brings_its_companions(write, tmp_path):
    write(tmp_path)
    (tmp_path / "b.dat.txt").write_text("beside")
    first, count = FILES[write]
    assert folder_recording(tmp_path, names(tmp_path)) is None
    (found,) = file_recordings(tmp_path, names(tmp_path))
    assert (found.place, len(found.parts)) == (tmp_path / first, count)
    assert recording_at(found.place) == found


def test_several_files_of_one_recording_are_called_as_the_first(tmp_path):
    hand.blackrock(tmp_path)
    for name in ("a.ns5", "a.nev", "b.ns5"):
        (tmp_path / name).write_bytes((tmp_path / "a.ns2").read_bytes())
    found = {each.place.name: len(each.parts) for each in file_recordings(tmp_path, names(tmp_path))}
    assert found == {"a.ns2": 3, "b.ns5": 1}


def test_a_run_whose_probes_have_folders_is_one_recording(tmp_path):
    run = tmp_path / "cat_g0"
    (run / "cat_g0_imec0").mkdir(parents=True)
    hand.spikeglx(run / "cat_g0_imec0")
    (tmp_path / "dog_g0").mkdir()
    hand.spikeglx(tmp_path / "dog_g0")
    assert folder_recording(tmp_path, names(tmp_path)) is None
    assert len(folder_recording(run, names(run)).parts) == 2
    assert len(folder_recording(tmp_path / "dog_g0", names(tmp_path / "dog_g0")).parts) == 2


def test_names_alone_make_no_recording(tmp_path):
    for name in ("a.bin", "a.meta", "b.raw", "settings.xml", "c.edf", "d.set", "e.eeg"):
        (tmp_path / name).write_text("text")
    (tmp_path / "experiment1").mkdir()
    assert folder_recording(tmp_path, names(tmp_path)) is None
    assert list(file_recordings(tmp_path, names(tmp_path))) == []
    assert recording_at(tmp_path / "b.raw") is None
