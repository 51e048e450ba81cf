"""Pickled messages with their length in front, over a pipe."""

from __future__ import annotations

import os
import pickle
from typing import Any, BinaryIO

LENGTH_BYTES = 8
READ_BYTES = 1 << 20


def send(stream: BinaryIO, message: object) -> None:
    """Write one message."""
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(content).to_bytes(LENGTH_BYTES, "little") + content)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read one message, waiting for it.

    Raises
    ------
    EOFError
        When the other side has closed the pipe.
    """
    length = int.from_bytes(_read_exactly(stream, LENGTH_BYTES), "little")
    return pickle.loads(_read_exactly(stream, length))  # noqa: S301 (our own process wrote it)


class MessageReader:
    """Gathers messages from a descriptor as its bytes come, without waiting for whole ones.

    Parameters
    ----------
    descriptor : int
        The reading end of a pipe.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._buffer = bytearray()

    def read_some(self) -> bool:
        """Take what is there; waits when nothing is. False at the end of the stream."""
        content = os.read(self._descriptor, READ_BYTES)
        self._buffer += content
        return bool(content)

    def has_message(self) -> bool:
        """Tell whether a whole message has come."""
        return len(self._buffer) >= LENGTH_BYTES + self._length() if self._buffer else False

    def next_message(self) -> Any:
        """Take the first message out; only when `has_message`."""
        end = LENGTH_BYTES + self._length()
        content = bytes(self._buffer[LENGTH_BYTES:end])
        del self._buffer[:end]
        return pickle.loads(content)  # noqa: S301 (our own child wrote it)

    def _length(self) -> int:
        if len(self._buffer) < LENGTH_BYTES:
            return LENGTH_BYTES  # more than there is: not whole yet
        return int.from_bytes(self._buffer[:LENGTH_BYTES], "little")


def _read_exactly(stream: BinaryIO, length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content
