"""Where references say that a recording is, for every reader, however given: verified from elsewhere."""

import json
from pathlib import Path
from typing import Any

import chained_recordings_by_hand as chained
import mearec_stand_in
import pytest
import recordings_by_hand as hand
from neo import rawio
from neo_features import FEATURES, Feature

from shadowzarr import load_rfs, relocate_rfs, write_rfs
from shadowzarr.errors import UsageError
from shadowzarr.formats.dispatch import generate_references
from shadowzarr.formats.neo_rawio.generate import generate_rfs_neo
from shadowzarr.recording_readers import TOLD
from shadowzarr.verify import verify_rfs

mearec_stand_in.install()

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

CHOSEN = [
    *{each.reader: each for each in reversed(FEATURES) if not each.refused}.values(),
    *(
        each
        for each in FEATURES
        if not each.refused and (each.options.keys() & TOLD or each.reader == "RawBinarySignalRawIO")
    ),
]
"""One recording of each reader, and those whose readers are told something."""


def recorded(rfs: Any) -> Any:
    return json.loads(rfs["refs"]["zarr.json"])["attributes"]["neo"]


def is_verified_elsewhere(rfs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    report = verify_rfs(rfs, mode="full")
    assert report.equal, report.summary()
    assert report.counts["bytes"] > 0


@pytest.mark.parametrize("feature", CHOSEN, ids=[f"{each.reader}: {each.what[:30]}" for each in CHOSEN])
def test_references_of_every_reader_say_where_it_is(
    feature: Feature, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rec").mkdir()
    arguments = feature.make(Path("rec"), **feature.options)
    rfs = generate_rfs_neo(getattr(rawio, feature.reader)(**arguments))
    place = Path(recorded(rfs)["path"])
    assert place.is_absolute()
    assert place.exists()
    is_verified_elsewhere(rfs, monkeypatch)


def test_every_reader_that_is_referenced_is_tested() -> None:
    assert {each.reader for each in CHOSEN} == {each.reader for each in FEATURES}


@pytest.mark.parametrize("ending", ["", ".xml", ".lfp", ".dat"])
def test_neuroscope_is_found_by_whatever_neo_was_given(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand.neuroscope(tmp_path, channels=6)
    samples = (tmp_path / "a.dat").read_bytes()
    (tmp_path / "a.lfp").write_bytes(samples[1200:])
    monkeypatch.chdir(tmp_path)
    rfs = generate_rfs_neo(rawio.NeuroScopeRawIO(f"a{ending}"))
    assert recorded(rfs)["path"] == str(tmp_path / f"a{ending or '.xml'}")
    assert list(rfs["sources"]) == [str(tmp_path / ("a.lfp" if ending == ".lfp" else "a.dat"))]
    is_verified_elsewhere(rfs, monkeypatch)


def test_a_folder_called_as_the_files_without_their_endings_is_not_the_recording(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    rfs = generate_rfs_neo(rawio.AxonaRawIO(**chained.axona(tmp_path)))
    assert recorded(rfs)["path"] == str(tmp_path / "a.set")


@pytest.mark.parametrize("name", ["tank/Block-1", "tank/Block-1/tank_Block-1.tsq", "tank"])
def test_a_block_of_a_tank_is_verified(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tank").mkdir()
    hand.tdt(tmp_path / "tank")
    monkeypatch.chdir(tmp_path)
    rfs = generate_references(name)
    index = str(tmp_path / "tank/Block-1/tank_Block-1.tsq")
    assert recorded(rfs)["path"] == (index if name != "tank" else str(tmp_path / "tank"))
    is_verified_elsewhere(rfs, monkeypatch)


def test_what_no_reader_is_told_is_refused(tmp_path: Path) -> None:
    rfs = generate_rfs_neo(rawio.RawBinarySignalRawIO(**hand.raw_binary(tmp_path)))
    root = json.loads(rfs["refs"]["zarr.json"])
    assert root["attributes"]["neo"]["told"]["nb_channel"] == 5
    for told in ({"pl2_dll_file_path": "x.dll"}, {"nb_channel": {}}, []):
        root["attributes"]["neo"]["told"] = told
        changed = {**rfs, "refs": {**rfs["refs"], "zarr.json": json.dumps(root)}}
        with pytest.raises(UsageError, match="it takes no such thing"):
            verify_rfs(changed)


class TestMoved:
    """References to a recording that was moved name its new place."""

    @pytest.fixture
    def references(self, tmp_path: Path) -> Path:
        (tmp_path / "old").mkdir()
        reader = rawio.NeuroScopeRawIO(**hand.neuroscope(tmp_path / "old", channels=6))
        write_rfs(generate_rfs_neo(reader), tmp_path / "refs.json")
        (tmp_path / "old").rename(tmp_path / "new")
        return tmp_path / "refs.json"

    def test_to_another_folder(self, references: Path) -> None:
        folder = references.parent
        relocate_rfs(references, from_prefix=f"{folder}/old/", to_prefix=f"{folder}/new/")
        assert f"{folder}/old" not in references.read_text()
        assert recorded(load_rfs(references))["path"] == f"{folder}/new/a.xml"
        assert verify_rfs(references, mode="full").equal

    def test_to_a_server(self, references: Path) -> None:
        folder = references.parent
        relocate_rfs(references, from_prefix=f"{folder}/old", to_prefix="https://lab.test/rec", check=False)
        assert str(folder) not in references.read_text()
        assert "path" not in recorded(load_rfs(references))


def test_a_recording_elsewhere_than_its_files_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    rfs: Any = generate_rfs_neo(rawio.NeuroScopeRawIO(**hand.neuroscope(tmp_path / "a", channels=6)))
    root = json.loads(rfs["refs"]["zarr.json"])
    root["attributes"]["neo"]["path"] = "/etc/hostname"
    rfs["refs"]["zarr.json"] = json.dumps(root)
    with pytest.raises(UsageError, match="none of their source files is"):
        verify_rfs(rfs)
