"""Small Intan recordings, from the definitions of the RHD2000 and RHS2000 data file formats."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
from recordings_by_hand import Arguments, signal

AMPLIFIER, AUXILIARY, SUPPLY, ADC, DAC_OR_DIGITAL = range(5)
RHD_DIGITAL, RHS_DIGITAL = 4, 5

KINDS = {
    "rhd": {
        AMPLIFIER: ("A-{:03}", 4),
        AUXILIARY: ("A-AUX{}", 3),
        SUPPLY: ("A-VDD{}", 1),
        ADC: ("ANALOG-IN-{}", 2),
    },
    "rhs": {AMPLIFIER: ("A-{:03}", 4), ADC: ("ANALOG-IN-{}", 2), DAC_OR_DIGITAL: ("ANALOG-OUT-{}", 1)},
}
"""Kinds of channels: their numbers in the header, names, and how many there are."""


def header_attached(
    folder: Path, *, kind="rhd", version=(1, 5), blocks=4, digital=2, dc=False, temperature=0, cut=0
) -> Arguments:
    """One file: after the header blocks, in each of which one channel's samples follow another's."""
    length = 60 if kind == "rhd" and version[0] == 1 else 128
    body = b""
    for block in range(blocks):
        at = np.arange(length) + block * length
        body += at.astype("<i4").tobytes()
        columns = signal(length, 64, "<i4", start=block * length) + 15000
        place = iter(range(64))

        def take(samples: int, columns: Any = columns, place: Any = place) -> bytes:
            return columns[:samples, next(place)].astype("<u2").tobytes()

        kinds = {number: count for number, (_, count) in KINDS[kind].items()}
        body += b"".join(take(length) for _ in range(kinds[AMPLIFIER]))
        if kind == "rhs":
            body += b"".join(take(length) for _ in range(kinds[AMPLIFIER] * (1 + dc)))  # DC, then currents
            body += b"".join(take(length) for _ in range(kinds[ADC] + kinds[DAC_OR_DIGITAL]))
        else:
            body += b"".join(take(length // 4) for _ in range(kinds[AUXILIARY]))
            body += b"".join(take(1) for _ in range(kinds[SUPPLY] + temperature))
            body += b"".join(take(length) for _ in range(kinds[ADC]))
        if digital:
            body += take(length)
    path = folder / f"a.{kind}"
    head = _header(kind, version, digital=digital, dc=dc, temperature=temperature)
    path.write_bytes(head + body[: len(body) - cut])
    return {"filename": str(path)}


def file_per_signal(folder: Path, *, kind="rhd", samples=300, digital=2, dc=False) -> Arguments:
    """A file for each kind of channels, samples of all channels together."""
    (folder / f"info.{kind}").write_bytes(_header(kind, (3, 0), digital=digital, dc=dc))
    np.arange(samples, dtype="<i4").tofile(folder / "time.dat")
    signal(samples, 4).tofile(folder / "amplifier.dat")
    if kind == "rhd":
        (signal(samples, 3, "<i4") + 15000).astype("<u2").tofile(folder / "auxiliary.dat")
        (signal(samples, 1, "<i4") + 15001).astype("<u2").tofile(folder / "supply.dat")
    else:
        (signal(samples, 1, "<i4") + 15001).astype("<u2").tofile(folder / "analogout.dat")
        (signal(samples, 4, "<i4") + 15002).astype("<u2").tofile(folder / "stim.dat")
    if dc:
        (signal(samples, 4, "<i4") + 15003).astype("<u2").tofile(folder / "dcamplifier.dat")
    (signal(samples, 2, "<i4") + 15004).astype("<u2").tofile(folder / "analogin.dat")
    if digital:
        (np.arange(samples) % 4).astype("<u2").tofile(folder / "digitalin.dat")
    return {"filename": str(folder / f"info.{kind}")}


def file_per_channel(folder: Path, *, samples=300, digital=2) -> Arguments:
    """A file for each channel."""
    (folder / "info.rhd").write_bytes(_header("rhd", (3, 0), digital=digital))
    np.arange(samples, dtype="<i4").tofile(folder / "time.dat")
    names = {
        "amp-A-{:03}": 4,
        "aux-A-AUX{}": 3,
        "vdd-A-VDD{}": 1,
        "board-ANALOG-IN-{}": 2,
        "board-DIGITAL-IN-{:02}": digital,
    }
    for number, (name, count) in enumerate(names.items()):
        values = signal(samples, count, start=number)
        for channel in range(count):
            stored = (
                values[:, channel] % 2 if "DIGITAL" in name else values[:, channel] + 15000 * (number > 0)
            )
            stored.astype("<i2" if number == 0 else "<u2").tofile(folder / f"{name.format(channel)}.dat")
    return {"filename": str(folder / "info.rhd")}


def _header(
    kind: str, version: tuple[int, int], *, digital: int, dc: bool = False, temperature: int = 0
) -> bytes:
    if kind == "rhd":
        head = struct.pack("<Ihh", 0xC6912702, *version)
        head += struct.pack("<fhffffffhff", 20000, 1, 1, 0.1, 7500, 1, 0.1, 7500, 0, 1000, 1000)
        head += _text("") * 3 + struct.pack("<hh", temperature, 0) + (_text("") if version[0] >= 2 else b"")
    else:
        head = struct.pack("<Ihh", 0xD69127AC, *version)
        head += struct.pack("<fhffffffffhffhhfff", 20000, 1, *[1.0] * 8, 0, 1000, 1000, 0, 0, 1e-6, 0, 0)
        head += _text("") * 3 + struct.pack("<hh", int(dc), 0) + _text("n/a")
    kinds = dict(KINDS[kind])
    if digital:
        kinds[RHD_DIGITAL if kind == "rhd" else RHS_DIGITAL] = ("DIGITAL-IN-{:02}", digital)
    channels = [(name.format(n), number, n) for number, (name, count) in kinds.items() for n in range(count)]
    head += struct.pack("<h", 1) + _text("Port A") + _text("A") + struct.pack("<hhh", 1, len(channels), 4)
    for name, number, order in channels:
        fields = (order, order, number, 1, order, *([0] * (5 if kind == "rhd" else 6)))
        head += _text(name) + _text(name) + struct.pack(f"<{len(fields)}hff", *fields, 1e5, -30.0)
    return head


def _text(text: str) -> bytes:
    encoded = text.encode("utf-16-le")
    return struct.pack("<I", len(encoded)) + encoded
