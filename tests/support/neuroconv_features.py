"""Interfaces of NeuroConv over recordings and images that are written here, one small one each."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import chained_recordings_by_hand as chained
import hdf5_recordings_by_hand as hdf5_hand
import imaging_by_hand as imaging
import intan_by_hand as intan
import numpy as np
import recordings_by_hand as hand
from neuroconv import datainterfaces as interfaces

Make = Callable[[Path], Any]
"""Writes into an empty folder and gives what makes an interface of it."""


def _of(interface: str, write: Callable[..., Any], argument: str, name: str = "", **options: Any) -> Make:
    """What writes by ``write``, and opens a file (or the folder) by an interface."""
    to_write = {key[2:]: options.pop(key) for key in list(options) if key.startswith("w_")}

    def make(folder: Path) -> Callable[[], Any]:
        written = write(folder, **to_write)
        place = folder / name if name else written if isinstance(written, Path | list) else folder
        return lambda: getattr(interfaces, interface)(**{argument: place}, **options)

    return make


def _neuroscope(folder: Path) -> Callable[[], Any]:
    hand.neuroscope(folder)
    paths = {"file_path": folder / "a.dat", "xml_file_path": folder / "a.xml"}
    return lambda: interfaces.NeuroScopeRecordingInterface(**paths)


def _white_matter(folder: Path) -> Callable[[], Any]:
    path = folder / "HSW_2020.bin"
    path.write_bytes(bytes(8) + hand.signal(200, 4).tobytes())
    about = {"num_channels": 4, "sampling_frequency": 25000.0}
    return lambda: interfaces.WhiteMatterRecordingInterface(file_path=path, **about)


def _cell_explorer(folder: Path) -> Callable[[], Any]:
    from scipy.io import savemat

    place = folder / "session"
    place.mkdir()
    hand.signal(200, 4).tofile(place / "session.dat")
    groups = np.empty(2, object)
    groups[:] = [np.array([1, 2]), np.array([3, 4])]
    about = {
        "nChannels": 4,
        "leastSignificantBit": 0.195,
        "precision": "int16",
        "sr": 20000.0,
        "srLfp": 1250.0,
    }
    extracellular = {**about, "electrodeGroups": {"channels": groups}}
    session = {"extracellular": extracellular, "general": {"name": "session"}}
    savemat(place / "session.session.mat", {"session": session})
    return lambda: interfaces.CellExplorerRecordingInterface(folder_path=place)


def _some_channels_and_samples(folder: Path) -> Callable[[], Any]:
    hand.mcs_raw(folder)

    def make() -> Any:
        interface = interfaces.MCSRawRecordingInterface(file_path=folder / "a.raw")
        recording = interface.recording_extractor
        chosen = recording.select_channels(recording.get_channel_ids()[[2, 0]])
        interface.recording_extractor = chosen.frame_slice(start_frame=20, end_frame=150)
        return interface

    return make


STREAM = {"stream_id": "imec0.ap"}

CONVERTED: dict[str, Make] = {
    "SpikeGLX, AP band": _of("SpikeGLXRecordingInterface", hand.spikeglx, "folder_path", **STREAM),
    "Open Ephys, two segments": _of(
        "OpenEphysRecordingInterface", hand.open_ephys_binary, "folder_path", w_recordings=2
    ),
    "SpikeGLX, NIDQ": _of("SpikeGLXNIDQInterface", hand.spikeglx, "folder_path", w_nidq=True),
    "Open Ephys, binary": _of("OpenEphysRecordingInterface", hand.open_ephys_binary, "folder_path"),
    "Open Ephys, legacy": _of("OpenEphysLegacyRecordingInterface", hand.open_ephys_legacy, "folder_path"),
    "Neuroscope": _neuroscope,
    "MCS raw": _of("MCSRawRecordingInterface", hand.mcs_raw, "file_path", "a.raw"),
    "MCS raw, some channels and samples": _some_channels_and_samples,
    "Blackrock": _of("BlackrockRecordingInterface", hand.blackrock, "file_path", "a.ns2"),
    "SpikeGadgets": _of(
        "SpikeGadgetsRecordingInterface", hand.spikegadgets, "file_path", "a.rec", stream_id="trodes"
    ),
    "Intan, one file": _of("IntanRecordingInterface", intan.header_attached, "file_path", "a.rhd"),
    "Intan, a file for each signal": _of(
        "IntanRecordingInterface", intan.file_per_signal, "file_path", "info.rhd"
    ),
    "EDF": _of("EDFRecordingInterface", hand.edf, "file_path", "a.edf"),
    "MEArec": _of("MEArecRecordingInterface", hdf5_hand.mearec, "file_path", "a.h5"),
    "Biocam": _of("BiocamRecordingInterface", hdf5_hand.biocam, "file_path", "a.brw"),
    "Neuralynx, not inverted": _of(
        "NeuralynxRecordingInterface", hand.neuralynx, "folder_path", w_inverted=False
    ),
    "Axona": _of("AxonaRecordingInterface", chained.axona, "file_path", "a.bin"),
    "TDT": _of("TdtRecordingInterface", hand.tdt, "folder_path", gain=1.0),
    "WhiteMatter": _white_matter,
    "CellExplorer": _cell_explorer,
    "WAV": _of("AudioInterface", lambda folder: [imaging.sound(folder)], "file_paths"),
    "TIFF": _of("TiffImagingInterface", imaging.tiff_stack, "file_paths", sampling_frequency=30.0),
    "TIFF, two files, big-endian": _of(
        "TiffImagingInterface",
        imaging.tiff_stack,
        "file_paths",
        w_files=2,
        w_dtype=">u2",
        w_byteorder=">",
        sampling_frequency=30.0,
    ),
    "TIFF, volumes": _of(
        "TiffImagingInterface", imaging.tiff_stack, "file_paths", sampling_frequency=30.0, num_planes=2
    ),
    "TIFF, second of two channels": _of(
        "TiffImagingInterface",
        imaging.tiff_stack,
        "file_paths",
        sampling_frequency=30.0,
        num_channels=2,
        channel_name="1",
        dimension_order="CZT",
    ),
    "ScanImage": _of("ScanImageImagingInterface", imaging.scanimage, "file_path"),
    "ScanImage, second of two channels": _of(
        "ScanImageImagingInterface", imaging.scanimage, "file_path", w_channels=2, channel_name="Channel 2"
    ),
    "ScanImage, volumes": _of(
        "ScanImageImagingInterface", imaging.scanimage, "file_path", w_planes=2, w_flyback=1
    ),
    "ScanImage, one plane of three": _of(
        "ScanImageImagingInterface", imaging.scanimage, "file_path", w_planes=3, plane_index=1
    ),
    "HDF5 movie": _of("Hdf5ImagingInterface", imaging.movie_hdf5, "file_path"),
    "HDF5 movie, in chunks": _of(
        "Hdf5ImagingInterface", imaging.movie_hdf5, "file_path", w_chunks=(1, 2, 5, 4)
    ),
    "HDF5 movie, behind gzip": _of(
        "Hdf5ImagingInterface", imaging.movie_hdf5, "file_path", w_chunks=(1, 2, 5, 4), w_compression="gzip"
    ),
    "Bruker": _of("BrukerTiffSinglePlaneImagingInterface", imaging.bruker, "folder_path"),
    "Thor": _of("ThorImagingInterface", imaging.thor, "file_path"),
    "Micro-Manager": _of("MicroManagerTiffImagingInterface", imaging.micro_manager, "folder_path"),
}
"""What becomes references, each compared with NeuroConv's own conversion."""

REFUSED: dict[str, tuple[Make, str]] = {
    "Neuralynx, inverted": (
        _of("NeuralynxRecordingInterface", hand.neuralynx, "folder_path"),
        "its input was inverted",
    ),
    "Biocam, inverted": (
        _of(
            "BiocamRecordingInterface",
            hdf5_hand.biocam,
            "file_path",
            "a.brw",
            w_version=100,
            w_chunk=50,
            w_inverted=True,
        ),
        "its values are inverted",
    ),
    "TIFF, compressed": (
        _of(
            "TiffImagingInterface",
            imaging.tiff_stack,
            "file_paths",
            w_compression="zlib",
            sampling_frequency=30.0,
        ),
        "page 0 of stack0.tif is compressed",
    ),
    "TIFF, in strips apart": (
        _of(
            "TiffImagingInterface", imaging.tiff_stack, "file_paths", w_tile=(16, 16), sampling_frequency=30.0
        ),
        "stored in pieces",
    ),
    "HDF5 movie, chunks of two channels": (
        _of("Hdf5ImagingInterface", imaging.movie_hdf5, "file_path", w_chunks=(2, 2, 5, 4), w_channels=2),
        "chunks of /mov hold 2 channels",
    ),
}
"""What is left to NeuroConv, and words of the reason."""
