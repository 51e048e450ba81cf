"""Damages to files, drawn at random: what bit rot, cut downloads and hostile writers make of them."""

import functools
import random
from collections.abc import Iterator, Sequence
from typing import Literal

from numcodecs.jenkins import jenkins_lookup3

KINDS = ("cut", "byte", "block", "huge")
"""Damages to any file."""

SIGNATURES = (
    *(b"\x89HDF", b"OHDR", b"OCHK", b"TREE", b"SNOD", b"HEAP", b"GCOL", b"FRHP", b"FHDB", b"FHIB"),
    *(b"BTHD", b"BTIN", b"BTLF", b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EASB", b"EADB", b"SMTB"),
)
"""What structures of HDF5 begin with."""

INDEX_SIGNATURES = SIGNATURES[SIGNATURES.index(b"BTHD") : SIGNATURES.index(b"SMTB")]
"""Those of them that chunk indexes consist of, but for old B-trees, which have no checksums."""

_HUGE = (b"\xff" * 8, b"\xff" * 7 + b"\x7f", bytes(7) + b"\x10")
_LONGEST = 700  # bytes before a checksum that are looked for
_NEAR = 120  # bytes of a structure that are worth changing


def damaged(data: bytes, kind: str, source: random.Random) -> bytes:
    """A file with one damage.

    ``cut``, ``byte`` (one bit), ``block`` (16 bytes), ``huge`` (a number of eight bytes), ``swap`` (two
    pieces in each other's place), ``structure`` (a byte behind a signature of HDF5), ``sealed`` (a byte of a
    structure whose checksum is made right again), ``index`` (that of a chunk index), ``directory`` (a byte
    of the first directory of a TIFF file).
    """
    changed = bytearray(data)
    at = source.randrange(len(data))
    if kind == "cut":
        return data[:at]
    if kind == "byte":
        changed[at] ^= 1 << source.randrange(8)
    elif kind == "block":
        changed[at : at + 16] = source.randbytes(len(changed[at : at + 16]))
    elif kind == "huge":
        changed[at : at + 8] = source.choice(_HUGE)[: len(data) - at]
    elif kind == "swap":
        swap(changed, source)
    elif kind == "structure":
        at = min(source.choice(signatures(data) or (at,)) + source.randrange(_NEAR), len(data) - 1)
        changed[at] = source.choice((0, 1, 2, 255, changed[at] ^ 1 << source.randrange(8)))
    elif kind == "sealed":
        seal(changed, source, checksummed(data))
    elif kind == "index":
        of_index = [each for each in checksummed(data) if data[each[0] : each[0] + 4] in INDEX_SIGNATURES]
        seal(changed, source, of_index)
    elif kind == "directory":
        at = min(first_directory(data) + source.randrange(2 * _NEAR), len(data) - 1)
        changed[at] = source.choice((0, 1, 2, 255, changed[at] ^ 1 << source.randrange(8)))
    return bytes(changed)


def swap(data: bytearray, source: random.Random) -> None:
    """Exchange two pieces of a file."""
    size = min(source.choice((8, 64, 512)), len(data) // 2)
    first, second = sorted(source.randrange(0, len(data) - size + 1) for _ in range(2))
    one, other = data[first : first + size], data[second : second + size]
    data[first : first + size], data[second : second + size] = other, one


def seal(changed: bytearray, source: random.Random, structures: Sequence[tuple[int, int]]) -> None:
    """Change a byte of a structure with a checksum, and the checksum with it, so that HDF5 believes it."""
    if not structures:
        return
    start, length = source.choice(structures)
    at = start + source.randrange(4, length)
    changed[at] = source.choice((0, 1, 2, 255, changed[at] ^ 1 << source.randrange(8)))
    end = start + length
    changed[end : end + 4] = jenkins_lookup3(bytes(changed[start:end])).to_bytes(4, "little")


def first_directory(data: bytes) -> int:
    """Where the first directory of a TIFF file is."""
    order: Literal["little", "big"] = "little" if data[:2] == b"II" else "big"
    start, size = (8, 8) if int.from_bytes(data[2:4], order) == 43 else (4, 4)
    return int.from_bytes(data[start : start + size], order)


@functools.lru_cache(maxsize=64)
def signatures(data: bytes) -> tuple[int, ...]:
    """Where structures of HDF5 begin, as far as signatures tell."""
    return tuple(sorted(at for signature in SIGNATURES for at in _places(data, signature)))


@functools.lru_cache(maxsize=64)
def checksummed(data: bytes) -> tuple[tuple[int, int], ...]:
    """Starts of structures that end with a checksum, and the bytes before it."""
    found = []
    for start in signatures(data):
        for length in range(8, min(_LONGEST, len(data) - start - 4)):
            stored = int.from_bytes(data[start + length : start + length + 4], "little")
            if stored and jenkins_lookup3(data[start : start + length]) == stored:
                found.append((start, length))
                break
    return tuple(found)


def _places(data: bytes, signature: bytes) -> Iterator[int]:
    at = data.find(signature)
    while at >= 0:
        yield at
        at = data.find(signature, at + 1)
