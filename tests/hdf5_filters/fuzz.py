"""Damages chunks and filters' values at random, and prints as JSON how many decode to what.

``python fuzz.py CASES NAME...`` has each case decoded as a decoder process does it, in a fork of this process
and within its limits; twice, with what is not written filled in two ways, so that a result which holds
memory as it was found differs.
"""

import collections
import ctypes
import hashlib
import json
import os
import random
import signal
import sys

import h5py
import numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t

from shadowzarr.hdf5_filters import decoder_main
from shadowzarr.hdf5_filters.decoder_messages import CHUNK, DECODE, Request
from shadowzarr.hdf5_filters.pipeline import decode_chunk

try:
    import hdf5plugin
except ImportError:
    hdf5plugin = None

SECONDS = 60.0
M_PERTURB = -6
ODD_VALUES = (0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 64, 100, 255, 4096, 2**16, 2**31 - 1, 2**31, 2**32 - 1)

RNG = np.random.default_rng(0)
STEPS = np.cumsum(RNG.integers(-3, 4, (64, 32)), 0).astype("<i4")
STEPS -= STEPS.min()
WALK = np.cumsum(RNG.normal(size=(64, 32)), 0)

BUILT_IN = {
    "gzip": (STEPS, {"compression": 4}),
    "lzf": (STEPS, {"compression": "lzf", "shuffle": True}),
    "lzf+fletcher32": (STEPS, {"compression": "lzf", "fletcher32": True}),
    "szip nn": (STEPS, {"compression": "szip", "compression_opts": ("nn", 8)}),
    "szip ec": (STEPS.astype("<i2"), {"compression": "szip", "compression_opts": ("ec", 16)}),
    "szip, padded": (WALK[:60, :30].round(), {"compression": "szip", "compression_opts": ("nn", 16)}),
    "szip, padded bytes": (
        STEPS[:, :25].astype("u1"),
        {"compression": "szip", "compression_opts": ("ec", 8)},
    ),
    "scale-offset": (STEPS, {"scaleoffset": 0}),
    "scale-offset, all bits": (STEPS, {"scaleoffset": 32}),
    "scale-offset of floats": (WALK.astype(">f8"), {"scaleoffset": 2}),
    "n-bit": (STEPS, None),
}


def plug_ins():
    if hdf5plugin is None:
        return {}
    floats, h = WALK.astype("<f4"), hdf5plugin
    return {
        "blosc": (STEPS, {"compression": h.Blosc()}),
        "blosc zstd": (STEPS, {"compression": h.Blosc(cname="zstd")}),
        "blosc2": (STEPS, {"compression": h.Blosc2()}),
        "lz4": (STEPS, {"compression": h.LZ4(nbytes=512)}),
        "bitshuffle": (STEPS, {"compression": h.Bitshuffle(cname="none")}),
        "bitshuffle lz4": (STEPS, {"compression": h.Bitshuffle(nelems=64, cname="lz4")}),
        "bitshuffle zstd": (STEPS, {"compression": h.Bitshuffle(cname="zstd")}),
        "zstd": (STEPS, {"compression": h.Zstd()}),
        "bzip2": (STEPS, {"compression": h.BZip2()}),
        "zfp": (floats, {"compression": h.Zfp(accuracy=0.01)}),
        "sz": (floats, {"compression": h.SZ(absolute=0.01)}),
        "sz3": (floats, {"compression": h.SZ3(absolute=0.01)}),
        "sperr": (floats, {"compression": h.Sperr(rate=16)}),
    }


def chunk(values, options):
    """Filters, stored bytes and bytes of a chunk that HDF5 has written; n-bit without options."""
    access, creation = h5p.create(h5p.FILE_ACCESS), h5p.create(h5p.DATASET_CREATE)
    access.set_fapl_core(65536, False)
    file = h5py.File(h5f.create(b"chunk", fapl=access))
    if options is None:
        kind = h5t.STD_I32LE.copy()
        kind.set_precision(20)
        kind.set_offset(3)
        creation.set_chunk(values.shape)
        creation.set_filter(5)
        dataset = h5d.create(file.id, b"d", kind, h5s.create_simple(values.shape), creation)
        dataset.write(h5s.ALL, h5s.ALL, values)
    else:
        dataset = file.create_dataset("d", data=values, chunks=values.shape, **options).id
    file.flush()
    properties = dataset.get_create_plist()
    entries = [properties.get_filter(number) for number in range(properties.get_nfilters())]
    mask, stored = dataset.read_direct_chunk((0,) * values.ndim)
    assert mask == 0
    filters = tuple((entry[0], entry[2]) for entry in entries)
    decoded = decode_chunk(filters, stored, values.nbytes).tobytes()
    if options is not None:
        assert decoded == dataset_bytes(dataset, values)
    return filters, stored, decoded


def dataset_bytes(dataset, values):
    read = np.empty_like(values)
    dataset.read(h5s.ALL, h5s.ALL, read)
    return read.tobytes()


def damaged(rng, stored):
    data, place = bytearray(stored), rng.randrange(len(stored))
    way = rng.randrange(6)
    if way == 0:
        for _ in range(rng.choice([1, 1, 2, 8])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif way == 1:
        del data[max(place, 1) :]
    elif way == 2:
        data += rng.randbytes(rng.choice([1, 4, 100]))
    elif way == 3:
        data[rng.randrange(min(64, len(data)))] = rng.randrange(256)
    elif way == 4:
        length = len(data[place : place + rng.randrange(1, 9)])
        data[place : place + length] = bytes([rng.choice([0, 127, 128, 255])]) * length
    else:
        start, length = rng.randrange(len(data)), rng.randrange(1, 64)
        data[place : place + length] = data[start : start + length]
    return bytes(data)


def other_values(rng, filters):
    number = rng.randrange(len(filters))
    values = list(filters[number][1])
    if not values or rng.random() < 0.1:
        values.append(rng.randrange(2**32))
    elif rng.random() < 0.1:
        values.pop()
    else:
        for _ in range(rng.choice([1, 1, 2])):
            values[rng.randrange(len(values))] = rng.choice([*ODD_VALUES, rng.randrange(2**32)])
    return (*filters[:number], (filters[number][0], tuple(values)), *filters[number + 1 :])


def decoded(request, fill, limit_memory):
    """What a fork of this process makes of a request: an answer's kind and digest, or how it ended."""
    reading, writing = os.pipe()
    fork = os.fork()
    if fork == 0:
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        ctypes.CDLL(None).mallopt(M_PERTURB, fill)
        limit_memory(request.nbytes + len(request.data))
        decoder_main.set_timer(SECONDS)
        kind, content = decoder_main.answer(request)
        assert kind != CHUNK or len(content) == request.nbytes
        os.write(writing, bytes([kind]) + hashlib.sha1(content).digest())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])
    if content:
        return content
    return "hangs" if code == -signal.SIGALRM else "crashes"


def outcome(request, expected, limit_memory):
    first = decoded(request, 0x55, limit_memory)
    if isinstance(first, str):
        return first
    if first[0] != CHUNK:
        return "is refused"
    if decoded(request, 0xAA, limit_memory) != first:
        return "holds memory as it was"
    return "is right" if first[1:] == expected else "is other values"


def run(name, cases, limit_memory):
    filters, stored, values = chunk(*{**BUILT_IN, **plug_ins()}[name])
    rng, expected = random.Random(name), hashlib.sha1(values).digest()
    counts = {"data": collections.Counter(), "values": collections.Counter()}
    for number in range(cases):
        is_data = number % 3 != 2
        request = Request(
            DECODE,
            filters if is_data else other_values(rng, filters),
            len(values),
            memoryview(damaged(rng, stored) if is_data else stored),
        )
        counts["data" if is_data else "values"][outcome(request, expected, limit_memory)] += 1
    return counts


if __name__ == "__main__":
    limiter = decoder_main.memory_limiter()
    print(json.dumps({name: run(name, int(sys.argv[1]), limiter) for name in sys.argv[2:]}))
