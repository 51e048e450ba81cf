"""Recordings as NeuroConv reads them, written once for all tests of a process."""

import gc
import importlib.util
import warnings
from pathlib import Path

import pytest

from shadowzarr.testing.sample_recordings import METADATA, write_spikeglx_probe, write_tiff_stack

collect_ignore_glob = (
    [] if importlib.util.find_spec("neuroconv") else ["test_corpus.py", "test_jobs.py", "test_run.py"]
)

SAMPLES, FRAMES = 900, 150


@pytest.fixture(scope="module", autouse=True)
def files_that_readers_leave_open():
    """roiextractors closes no TIFF file; the collector does, which warns of each."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def write_recordings(folder: Path) -> Path:
    """A SpikeGLX session, a TIFF stack, metadata, and those that are damaged."""
    (folder / "noise_g0").mkdir(parents=True)
    write_spikeglx_probe(folder / "noise_g0" / "noise_g0_t0.imec0.ap", samples=SAMPLES)
    write_tiff_stack(folder / "stack.tif", frames=FRAMES)
    (folder / "metadata.yaml").write_text(METADATA)
    (folder / "damaged_g0").mkdir()
    write_spikeglx_probe(folder / "damaged_g0" / "damaged_g0_t0.imec0.ap", samples=SAMPLES)
    (folder / "damaged_g0" / "damaged_g0_t0.imec0.ap.meta").write_bytes(b"\0\xff" * 200)
    (folder / "text.tif").write_text("this is no image")
    (folder / "short.tif").write_bytes((folder / "stack.tif").read_bytes()[:100_000])
    return folder


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    return write_recordings(tmp_path_factory.mktemp("recordings"))
