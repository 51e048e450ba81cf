# ruff: noqa: E501 - headers as their formats have them
"""Small recordings of Spike2, Axona and AxoGraph, written from the definitions of their formats, in variants.

As `recordings_by_hand`: each function writes into an empty folder and gives what NEO's reader takes.
"""

import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from recordings_by_hand import Arguments, signal

_DISK_BLOCK = 512
_TICKS = 50
"""Of the clock of a Spike2 file, between samples."""


def spike2(
    folder: Path,
    *,
    version=9,
    kinds=(1, 1, 1),
    blocks=((100, 100, 60),),
    scales=None,
    cut=0,
    lacks=0,
    **options: Any,
) -> Arguments:
    """SON: a header of 512 bytes, 140 for each channel, then blocks of 20 bytes and samples, in chains.

    ``kinds`` are 1 for int16, 9 for float32, 3 for a channel of events, 0 for none. ``blocks`` are samples in each
    block of a segment; the last channel's last block lacks some. Blocks of the channels lie in turns.
    """
    scales = scales or [1.0] * len(kinds)
    unit = _DISK_BLOCK if version == 9 else 1
    begin = -(-(512 + 140 * len(kinds)) // _DISK_BLOCK) * _DISK_BLOCK
    body, places = b"", {n: [] for n in range(len(kinds))}
    at, sample = 1000, 0
    for segment in blocks:
        for items in segment:
            for number, kind in enumerate(kinds):
                if kind == 0:
                    continue
                count = items
                if number == len(kinds) - 1 and segment is blocks[-1] and items is segment[-1]:
                    count -= lacks
                body = body.ljust(-(-len(body) // unit) * unit, b"\0")
                places[number].append((begin + len(body), at, count))
                last = at + (count - 1) * _TICKS
                if kind == 3:
                    data = np.arange(at, last + 1, _TICKS, dtype="<i4")
                else:
                    data = signal(count, len(kinds), "<i2" if kind == 1 else "<f4", start=sample)[:, number]
                body += struct.pack("<iiiihh", -1, 0, at, last, number + 1, count) + data.tobytes()
            at, sample = at + items * _TICKS, sample + items
        at += 20000  # a pause
    body = bytearray(body)
    for found in places.values():
        for (place, *_), (after, *_) in pairwise(found):
            struct.pack_into("<i", body, place - begin + 4, after // unit)
    head = struct.pack(
        "<h10s8shhhihhhhhidBh", version, b"(C) CED 87", b"made", 2, 10, 0, begin // unit, len(kinds), 140, 0, 0, 0, at,
        1e-6, 0, 2020,
    ).ljust(512, b"\0")  # fmt: skip
    head += b"".join(
        _spike2_channel(number, kind, places[number], scales[number], unit)
        for number, kind in enumerate(kinds)
    )
    path = folder / "a.smr"
    path.write_bytes(head.ljust(begin, b"\0") + bytes(body)[: len(body) - cut])
    return {"filename": str(path), **options}


def _spike2_channel(number: int, kind: int, places: list[Any], scale: float, unit: int) -> bytes:
    first = places[0][0] // unit if places else -1
    last = places[-1][0] // unit if places else -1
    text = struct.pack(
        "<hiiihhhhhh72siihs9sfBb", 0, 0, first, last, len(places), 0, 0, 0, 0, 100, b"\x04made", 10**6, _TICKS, number,
        b"\x04", b"Ch%02d" % number, 10000.0, kind, 0,
    )  # fmt: skip
    text += struct.pack("<ffs5sh", scale, 0.5 * (scale - 1), b"\x04", b"volt", 5)
    return text.ljust(140, b"\0")


def axona(folder: Path, *, tetrodes=(1, 2), packets=40, extra=0, signals=True) -> Arguments:
    """DacqUSB: a .set of text, and a .bin of packets of 32 bytes, three samples of 64 channels, and 16 bytes."""
    lines = [
        "trial_date Thursday, 2 Jan 2020",
        "trial_time 03:04:05",
        "ADC_fullscale_mv 1500",
        "rawRate 48000",
    ]
    lines += [f"collectMask_{n} {int(n in tetrodes)}" for n in range(1, 17)]
    lines += [f"gain_ch_{n} {1000 + 10 * n}" for n in range(64)]
    lines += ["comments none", "experimenter nobody", "sw_version 1.2.2.16"]
    (folder / "a.set").write_text("\r\n".join([*lines, "data_start"]))
    found = np.zeros(packets, [("head", "u1", 32), ("x", "<i2", (3, 64)), ("tail", "u1", 16)])
    found["head"][:, :4] = np.frombuffer(b"ADU1", "u1")
    found["head"][:, 4:] = found["tail"][:, :1] = 77
    found["x"] = signal(3 * packets, 64).reshape(packets, 3, 64)
    if signals:
        (folder / "a.bin").write_bytes(found.tobytes() + bytes(extra))
    return {"filename": str(folder / "a.set")}


def axograph(
    folder: Path, *, version=6, types=(10, 10), samples=250, episodes=1, lengths=(), notes="", cut=0
) -> Arguments:
    """AxoGraph 1 and 2 (AxGr: float32, or scaled int16), or X (axgx: a type for each column), big-endian.

    The first column is the time. With several ``episodes`` there is a column of each type for each.
    """
    types = tuple(types) * episodes
    count = len(types) + 1
    body = struct.pack(
        ">4sHH" if version < 3 else ">4sll", b"AxGr" if version < 3 else b"axgx", version, count
    )
    body += _axograph_time(version, samples)
    for number, kind in enumerate(types):
        length = lengths[number] if lengths else samples
        dtype = {4: ">i2", 5: ">i4", 6: ">f4", 7: ">f8", 10: ">i2"}[
            kind if version > 2 else (6, 10)[version - 1]
        ]
        title = f"Current {number % (len(types) // episodes)} (pA)"
        body += struct.pack(">l", length)
        if version < 3:
            body += struct.pack(">80p", title.encode()) + struct.pack(">f", 0.5) * (version == 2)
        else:
            body += struct.pack(">l", kind) + _text(title) + struct.pack(">dd", 0.25, 1.5) * (kind == 10)
        body += signal(length, len(types), dtype)[:, number].tobytes()
    if version > 2:
        body += _text("made") + _text(notes) + _axograph_traces(version, types, episodes)
    path = folder / "a.axgd"
    path.write_bytes(body[: len(body) - cut])
    return {"filename": str(path)}


def _axograph_time(version: int, samples: int) -> bytes:
    if version == 1:
        return (
            struct.pack(">l80p", samples, b"Time (s)") + (np.arange(samples) / 1024).astype(">f4").tobytes()
        )
    if version == 2:
        return struct.pack(">l80pff", samples, b"Time (s)", 0, 1 / 1024)
    return struct.pack(">ll", samples, 9) + _text("Time (s)") + struct.pack(">dd", 0.5, 1 / 1024)


def _axograph_traces(version: int, types: tuple[int, ...], episodes: int) -> bytes:
    """Traces, a group for each channel, and which episodes there are."""
    groups = len(types) // episodes
    body = struct.pack(">l", len(types))
    for number in range(len(types)):
        body += struct.pack(">l", 1) * (version >= 6)
        body += struct.pack(">lllll", 0, number + 1, -1, number % groups, 0)
        body += bytes(8 * 3 + 4 * 2 + 8 * 4 + 4 + 4 + 8 + 4 * 14)
    body += struct.pack(">l", groups)
    for number in range(groups):
        body += struct.pack(">l", 1) * (version >= 6)
        body += _text(f"Group {number}") + bytes(2) + _text("pA") + bytes(10)
    return body + bytes(36) + struct.pack(">l", episodes) + struct.pack(">l", 1) * episodes


def _text(text: str) -> bytes:
    encoded = text.encode("utf-16-be")
    return struct.pack(">l", len(encoded)) + encoded
