"""Nodes of HDF5 files as the file format specification lays them out, for the tests of what reads them."""

import struct

from shadowzarr.formats.hdf5.read_ahead.fields import Sizes
from shadowzarr.refs.byte_range import FileRange

SIZES = Sizes()
NOWHERE = 0xFFFFFFFFFFFFFFFF


def drive(walk, file):
    """Walk to the end over a file in memory; gives the result and the rounds of (offset, length)."""
    rounds, buffers = [], None
    try:
        while True:
            ranges = next(walk) if buffers is None else walk.send(buffers)
            rounds.append([(each.offset, each.length) for each in ranges])
            buffers = [file[each.offset : each.stop] for each in ranges]
    except StopIteration as ended:
        return ended.value, rounds


class Placed:
    """A file that is zeros but for the nodes put into it."""

    def __init__(self, size=65536):
        self.data = bytearray(size)

    def put(self, place, node):
        self.data[place : place + len(node)] = node
        return self

    def __bytes__(self):
        return bytes(self.data)


class Memory:
    """Bytes that are at hand only after they were fetched."""

    def __init__(self, content, known=()):
        self.content, self.rounds = bytes(content), []
        self._fetched = bytearray(len(self.content))
        self._mark(known)

    def at_hand(self, wanted):
        part = self._fetched[wanted.offset : wanted.stop]
        return self.content[wanted.offset : wanted.stop] if all(part) else None

    def prefetch(self, ranges, gaps=0):
        self.rounds.append(sorted((each.offset, each.length) for each in ranges))
        self._mark(ranges)

    def fetched(self):
        """Places whose bytes were fetched."""
        return {place for place, is_there in enumerate(self._fetched) if is_there}

    def _mark(self, ranges):
        for each in ranges:
            stop = min(each.stop, len(self.content))
            self._fetched[each.offset : stop] = b"\1" * (stop - each.offset)


def early_message(kind, body, flags=0):
    """A message of a version 1 object header, padded to a multiple of 8."""
    body = body.ljust(-(-len(body) // 8) * 8, b"\0")
    return struct.pack("<HHB3x", kind, len(body), flags) + body


def early_header(*messages):
    """A version 1 object header: version, messages, references, bytes, and 4 bytes to align."""
    content = b"".join(messages)
    return struct.pack("<BxHII4x", 1, len(messages), 1, len(content)) + content


def late_message(kind, body, flags=0, order=None):
    """A message of a version 2 object header."""
    extra = b"" if order is None else struct.pack("<H", order)
    return struct.pack("<BHB", kind, len(body), flags) + extra + body


def late_header(*messages, flags=0, before=b"", gap=b""):
    """A version 2 object header with one-byte size of its first chunk, and a checksum nobody looks at."""
    content = b"".join(messages) + gap
    return b"OHDR" + bytes([2, flags]) + before + bytes([len(content)]) + content + b"SUM!"


def ranges(*pairs):
    return [FileRange(*pair) for pair in pairs]
