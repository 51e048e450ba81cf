"""The recordings that NEO tests its readers with, hosted on GIN. Off by default: pytest -m gin.

They are looked for in ``EPHY_TESTING_DATA_FOLDER``, and downloaded by datalad where it is installed: 300 MB.
"""

import importlib
import importlib.util
import warnings
from pathlib import Path
from typing import Any

import pytest
from neo import rawio
from neo.utils.datasets import download_dataset, get_local_testing_data_folder
from neo_reading import assert_same

from shadowzarr.errors import ShadowzarrError

READERS = (
    "Axon BrainVision Elan Micromed NeuroNexus NeuroScope OpenEphysBinary RawBinarySignal RawMCS SpikeGLX "
    "WinEdr WinWcp Maxwell Blackrock SpikeGadgets Intan Neuralynx OpenEphys EDF MEArec Biocam "
    "NeuroExplorer Tdt"
)


@pytest.mark.gin
@pytest.mark.parametrize("name", READERS.split(" "))
def test_recordings_of_neo(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    equal, refused = 0, dict[str, str]()
    for entity, options in _entities(name):
        path = _local(entity)
        if path is None:
            continue
        kind: Any = getattr(rawio, f"{name}RawIO")
        argument = "dirname" if kind.rawmode == "one-dir" else "filename"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert_same(kind(**{argument: str(path)}, **options), left_out=None)
            equal += 1
        except ShadowzarrError as error:
            refused[entity] = str(error)
    if not equal and not refused:
        pytest.skip("no recordings in EPHY_TESTING_DATA_FOLDER, and datalad is not installed")
    with capsys.disabled():
        print(f" {name}: {equal} recordings equal, {len(refused)} refused: {refused}")
    assert equal
    assert all("\n" not in message for message in refused.values())


def _entities(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Recordings that NEO's own test of a reader names, and what else the reader is given."""
    module = importlib.import_module(f"neo.test.rawiotest.test_{name.lower()}rawio")
    found = []
    for case in vars(module).values():
        if getattr(getattr(case, "rawioclass", None), "__name__", "") == f"{name}RawIO":
            options = dict(getattr(case, "rawio_kwargs", {}))
            found += [(each, options) for each in case.entities_to_test if isinstance(each, str)]
    return found


def _local(entity: str) -> Path | None:
    path = Path(get_local_testing_data_folder()) / entity
    if not path.exists() and importlib.util.find_spec("datalad") is not None:
        download_dataset(remote_path=entity)
    return path if path.exists() else None
