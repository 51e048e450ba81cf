"""One run at a time in a bucket: an object that its holder renews, and that is free when nobody does.

It is taken by a put that fails when another was faster. The holder puts it anew every minute; one that was
not renewed for ten minutes, by the clock of the service, belongs to a run that is dead, and the next run
takes it. A run on the same machine needs not wait: it holds the lock of the same workings, so that the
earlier holder, which held that too, has ended.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import obstore
import orjson
from obstore.exceptions import AlreadyExistsError, PreconditionError

from ..errors import OutputBusyError, OutputError
from .bucket_errors import FAILURES, bucket_error

if TYPE_CHECKING:
    from .bucket_output import BucketOutput

LOCK: Final = ".shadowzarr/lock"
CLOCK: Final = ".shadowzarr/clock"
RENEW_SECONDS: Final = 60.0
EXPIRY_SECONDS: Final = 600.0
_MACHINE: Final = "machine"


class BucketLock:
    """The lock of an output in a bucket; its workings must be held.

    Parameters
    ----------
    output : BucketOutput

    Attributes
    ----------
    loss : str
        Why nothing more may be written, once another has taken the lock; empty until then.
    """

    def __init__(self, output: BucketOutput) -> None:
        self.loss = ""
        self._output = output
        self._token = uuid.uuid4().hex
        self._etag = ""
        self._renewed = 0.0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="bucket-lock", daemon=True)

    def take(self) -> None:
        """Take the lock, and keep it until it is given back.

        Raises
        ------
        OutputBusyError
            When another run holds it.
        OutputError
            When the bucket cannot be written, or its service does not know conditional writes.
        """
        try:
            self._etag = self._put("create")
        except AlreadyExistsError:
            self._take_over()
        self._check_conditions()
        self._renewed = time.monotonic()
        self._thread.start()

    def give_back(self) -> None:
        """Let the next run have it at once. When that fails, it is free after ten minutes."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()
        with contextlib.suppress(OutputError, PreconditionError):
            if not self.loss:
                self._put({"e_tag": self._etag}, is_free=True)

    def _take_over(self) -> None:
        """Take a lock whose holder gave it back or is dead."""
        found = self._read()
        if found is None:  # removed by hand, just now
            raise OutputBusyError(f"another run is beginning in {self._output}; wait for it")
        etag, renewed, content = found
        if not content.get("free") and content.get("machine") != self._machine():
            silence = (self._service_time() - renewed).total_seconds()
            if silence < EXPIRY_SECONDS:
                raise OutputBusyError(
                    f"another run ({content.get('holder', 'unknown')}) is writing to {self._output}, last "
                    f"heard of {max(silence, 0):.0f} seconds ago; wait for it, or choose another output "
                    f"(a run that died is taken over {EXPIRY_SECONDS / 60:.0f} minutes after it was last "
                    "heard of)"
                )
        try:
            self._etag = self._put({"e_tag": etag})
        except PreconditionError:
            raise OutputBusyError(f"another run has just begun in {self._output}; wait for it") from None

    def _check_conditions(self) -> None:
        """Refuse a service that takes every put, whatever its condition: there is no lock with it."""
        try:
            self._put("create")
        except AlreadyExistsError:
            return
        raise OutputError(
            f"{self._output.service} ignores the conditions of conditional writes (If-None-Match), so that "
            "runs cannot be kept apart; an output needs a service that knows them"
        )

    def _renew(self) -> None:
        while not self._end.wait(RENEW_SECONDS):
            try:
                self._etag = self._put({"e_tag": self._etag})
                self._renewed = time.monotonic()
            except PreconditionError:
                self._look_again()
            except OutputError as error:
                if time.monotonic() - self._renewed > EXPIRY_SECONDS - 2 * RENEW_SECONDS:
                    self.loss = f"the lock of {self._output} could not be renewed: {error}"
            if self.loss:
                return

    def _look_again(self) -> None:
        """Tell a lock that another took from one whose renewal arrived while its answer did not."""
        try:
            found = self._read()
        except OutputError:
            return  # the next renewal tells
        if found is not None and found[2].get("token") == self._token:
            self._etag = found[0]
            return
        holder = "nobody" if found is None else found[2].get("holder", "another run")
        self.loss = f"{holder} holds the lock of {self._output} now, so nothing more is written; run again"

    def _put(self, mode: Any, *, is_free: bool = False) -> str:
        content = {
            "holder": f"process {os.getpid()} on {socket.gethostname()}",
            "machine": self._machine(),
            "token": self._token,
            "free": is_free,
        }
        try:
            result = obstore.put(self._output.client, LOCK, orjson.dumps(content), mode=mode)
        except (AlreadyExistsError, PreconditionError):
            raise
        except FAILURES as error:
            raise self._error("cannot write to", error) from None
        return str(result["e_tag"])

    def _read(self) -> tuple[str, datetime, dict[str, Any]] | None:
        try:
            result = obstore.get(self._output.client, LOCK)
            content = orjson.loads(bytes(result.bytes()))
            return str(result.meta["e_tag"]), result.meta["last_modified"], content
        except FileNotFoundError:
            return None
        except orjson.JSONDecodeError:
            raise OutputError(
                f"{self._output.location(LOCK)} is no lock of an output; is the prefix meant for another use?"
            ) from None
        except FAILURES as error:
            raise self._error("cannot read", error) from None

    def _service_time(self) -> datetime:
        """What the clock of the service says; that of this machine may be wrong."""
        client = self._output.client
        try:
            obstore.put(client, CLOCK, b"")
            now = obstore.head(client, CLOCK)["last_modified"]
            obstore.delete(client, CLOCK)
        except FAILURES as error:
            raise self._error("cannot write to", error) from None
        return now

    def _machine(self) -> str:
        """What the workings of this machine are known by: its name, and a number made once."""
        path = self._output.workings / _MACHINE
        try:
            if not path.is_file():
                path.write_text(uuid.uuid4().hex)
            return f"{socket.gethostname()} {path.read_text()}"
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror or error}") from error

    def _error(self, what: str, error: Exception) -> OutputError:
        output = self._output
        return bucket_error(f"{what} {output}", error, bucket=output.bucket, service=output.service)
