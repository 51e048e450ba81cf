"""Every recording that was handed in or is made by the corpus' builder: equal to NEO, or refused by name."""

import warnings
from pathlib import Path
from typing import Any

import pytest
from neo import rawio
from neo_reading import assert_same

from shadowzarr.errors import ShadowzarrError

REFUSED = {
    "test_bdf_stim_channel.bdf": "24 bits",
    "test_generator_datarec_generator_2.bdf": "24 bits",
    "biocam_plain.brw": "no whole frames",
    "biocam_inverted.brw": "inverted",
}
"""What is refused of the corpus, and words of the reason."""

MADE: dict[str, type] = {
    "spikeglx_g0": rawio.SpikeGLXRawIO,
    "openephys_binary": rawio.OpenEphysBinaryRawIO,
    "openephys_legacy": rawio.OpenEphysRawIO,
    "neuroscope/session.xml": rawio.NeuroScopeRawIO,
    "mcs.raw": rawio.RawMCSRawIO,
    "elan.eeg": rawio.ElanRawIO,
    "micromed.TRC": rawio.MicromedRawIO,
    "neuralynx": rawio.NeuralynxRawIO,
    "blackrock": rawio.BlackrockRawIO,
    "intan_v1.rhd": rawio.IntanRawIO,
    "intan_v3.rhd": rawio.IntanRawIO,
    "winedr.EDR": rawio.WinEdrRawIO,
    "winwcp.wcp": rawio.WinWcpRawIO,
    "neuronexus/rec.xdat.json": rawio.NeuroNexusRawIO,
    "spikegadgets.rec": rawio.SpikeGadgetsRawIO,
    "biocam_plain.brw": rawio.BiocamRawIO,
    "biocam_inverted.brw": rawio.BiocamRawIO,
    "maxwell/data.raw.h5": rawio.MaxwellRawIO,
}
"""The builder's recordings, and what reads them."""

KINDS = {
    ".abf": rawio.AxonRawIO,
    ".vhdr": rawio.BrainVisionRawIO,
    ".edf": rawio.EDFRawIO,
    ".bdf": rawio.EDFRawIO,
}
PARTS = {".eeg", ".vmrk", ".meta"}
"""Files that belong to another one, or without their signals (SpikeGLX)."""


def reader_of(kind: Any, path: Path) -> Any:
    """A reader, given what it takes."""
    return kind(dirname=str(path)) if kind.rawmode == "one-dir" else kind(filename=str(path))


def test_the_corpus_is_equal_or_refused(
    shared: Path, made_files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shared / "corpus" / "ephys"
    found = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix not in PARTS)
    recordings = [(KINDS[path.suffix], path) for path in found]
    recordings += [(kind, made_files / "ephys" / name) for name, kind in MADE.items()]
    arrays, refused = 0, dict[str, str]()
    for kind, path in recordings:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)  # NEO leaves files to the collector
                rfs = assert_same(reader_of(kind, path))
        except ShadowzarrError as error:
            refused[path.name] = str(error)
            continue
        arrays += sum(
            key.endswith("/zarr.json") and '"array"' in text
            for key, text in rfs["refs"].items()
            if isinstance(text, str)
        )
    with capsys.disabled():
        print(f" {len(recordings)} recordings: {arrays} arrays equal NEO's read, {len(refused)} refused")
    assert len(recordings) >= 34
    assert arrays >= 260
    assert refused.keys() == REFUSED.keys()
    assert all(REFUSED[name] in message and "\n" not in message for name, message in refused.items())


def test_every_made_recording_is_read(made_files: Path) -> None:
    made = {p.name for p in (made_files / "ephys").iterdir()}
    names = {Path(name).parts[0] for name in MADE}
    parts = {"elan.eeg.ent", "elan.eeg.pos", "blackrock.ns2", "winwcp.wcp"}
    assert made - names - parts == set()
