"""An output below a prefix of a bucket, at any service that speaks S3 and knows conditional writes.

Files of a name that tells their content are put as they are. All others (``refs.json``, records, the
catalogue's manifest, the lock) are put under a condition: that nothing is there, or still what was seen there
before. So nothing of another writer is ever replaced unseen.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import shutil
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NoReturn

import obstore
from obstore.exceptions import AlreadyExistsError, PreconditionError
from obstore.store import S3Store

from ..access import s3_locations
from ..access.content_types import cache_control, content_type
from ..access.http_client import user_agent
from ..errors import OutputBusyError, UsageError
from .bucket_errors import FAILURES, bucket_error
from .lock import output_lock
from .output_store import StoredFile

if TYPE_CHECKING:
    from .bucket_lock import BucketLock

DEFAULT_WORKINGS: Final = Path("~/.shadowzarr/outputs")
SCHEME: Final = "s3://"
LONGEST_KEY: Final = 1024
"""Bytes of a key, by S3."""
_ROOM: Final = 300
"""Bytes that the names of an asset's files add to the asset's."""
_AT_ONCE: Final = 8
_PUT_TIMEOUT: Final = timedelta(minutes=10)
_MOST_RETRIES = 4
_RETRY_TIMEOUT: Final = timedelta(minutes=1)

_LOCKS: dict[BucketOutput, BucketLock] = {}
"""Locks that this process holds."""


@dataclass(frozen=True)
class BucketOutput:
    """The published files below a prefix; see `shadowzarr.catalog.output_store.OutputStore`.

    Attributes
    ----------
    bucket : str
    prefix : str
        Without ``/`` at either end; empty for the whole bucket.
    workings : Path
        Folder on this machine for what is not published.
    endpoint : str, optional
        Root of the service; Amazon's, or that of ``AWS_ENDPOINT_URL``, by default.
    region : str, optional
        That of ``AWS_REGION`` by default.
    """

    bucket: str
    prefix: str
    workings: Path
    endpoint: str | None = None
    region: str | None = None

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.prefix}".rstrip("/")

    @property
    def folder(self) -> PurePosixPath:
        """A name for it that places in it can be made from; nothing is there on this machine."""
        return PurePosixPath("s3:", self.bucket, self.prefix)

    def location(self, name: str) -> str:
        """The ``s3://`` URL of a file."""
        return f"{self}/{name}"

    def is_there(self) -> bool:
        """Whether any file has this prefix."""
        return next(self._keys("", None), None) is not None

    def check(self) -> None:
        """Refuse a bucket that cannot be listed."""
        self.is_there()

    def files(self, prefix: str, *, closed: str = "") -> Iterator[StoredFile]:
        """All files whose names start so, in order; a request for a thousand of them."""
        folder, _, start = prefix.rpartition("/")
        last = ""
        for meta in self._keys(folder, prefix if start else None):
            name = meta["path"]
            if not name.startswith(prefix):
                return  # names come in order
            shown = _closed(name, closed) if closed else None
            if shown is None:
                yield StoredFile(name, f"{meta['e_tag']}-{meta['size']}")
            elif shown != last:
                last = shown
                yield StoredFile(shown, "")

    def children(self, folder: str) -> list[str]:
        """Names of the files and folders directly in a folder."""
        try:
            found = obstore.list_with_delimiter(self.client, folder)
        except FAILURES as error:
            self._give_up("cannot list", folder, error)
        return sorted([*found["common_prefixes"], *(each["path"] for each in found["objects"])])

    def exists(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return self._etag(name) is not None

    def modified(self, name: str) -> datetime | None:
        """When a file was last put, by the clock of the service; None when there is none."""
        try:
            return obstore.head(self.client, name)["last_modified"]
        except FAILURES as error:
            if isinstance(error, FileNotFoundError) and "NoSuchBucket" not in str(error):
                return None
            self._give_up("cannot read", name, error)

    def read(self, name: str) -> bytes:
        """The content of a file."""
        try:
            return bytes(obstore.get(self.client, name).bytes())
        except FAILURES as error:
            if isinstance(error, FileNotFoundError) and "NoSuchBucket" not in str(error):
                raise FileNotFoundError(self.location(name)) from None
            self._give_up("cannot read", name, error)

    def write(self, name: str, content: bytes, *, scratch: Path) -> None:
        """Put a file, if what is there is what was there when this began."""
        del scratch  # a put appears whole or not at all
        self._require_lock()
        seen = self._etag(name)
        mode: Any = "create" if seen is None else {"e_tag": seen}
        try:
            obstore.put(self.client, name, content, mode=mode, attributes=_attributes(name))
        except (AlreadyExistsError, PreconditionError):
            self._check_own(name, content)
        except FAILURES as error:
            self._give_up("cannot write", name, error)

    def adopt(self, local: Path, name: str, *, is_final: bool = False) -> None:
        """Put a local file, or all files of a folder; they stay where they are."""
        if is_final:
            self.write(name, local.read_bytes(), scratch=local)
            return
        self._require_lock()
        files = [(local, name)]
        if local.is_dir():
            found = (path for path in sorted(local.rglob("*")) if path.is_file())
            files = [(path, f"{name}/{path.relative_to(local).as_posix()}") for path in found]
        if len(files) == 1:
            self._put(*files[0])
            return
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda each: self._put(*each), files))

    def remove(self, names: Iterable[str]) -> None:
        """Remove files, and all that lies in folders of these names."""
        self._require_lock()
        for name in names:
            gone = [name, *(each.name for each in self.files(f"{name}/"))]
            try:
                obstore.delete(self.client, gone)
            except FAILURES as error:
                self._give_up("cannot remove", name, error)

    def move(self, name: str, target: str) -> None:
        """Copy a file or folder in place of what has that name, then remove it."""
        self.remove([target])
        inside = [each.name for each in self.files(f"{name}/")]
        try:
            for each in inside or [name]:
                obstore.copy(self.client, each, target + each.removeprefix(name))
        except FAILURES as error:
            self._give_up("cannot move", name, error)
        self.remove([name])

    def drop_empty(self, folder: str, *, up_to: str) -> None:
        """Nothing: a bucket has no empty folders."""

    @contextlib.contextmanager
    def local_copy(self, name: str) -> Iterator[Path]:
        """Read a file or folder into the workings."""
        place = self.workings / "reading" / uuid.uuid4().hex
        copy = place / PurePosixPath(name).name
        try:
            inside = [each.name for each in self.files(f"{name}/")]
            for each in inside or [name]:
                path = copy / each[len(name) + 1 :] if inside else copy
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(self.read(each))
            yield copy
        finally:
            shutil.rmtree(place, ignore_errors=True)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the workings' lock, then the one in the bucket."""
        from .bucket_lock import BucketLock

        with output_lock(self.workings / "lock", output=str(self)):
            lock = BucketLock(self)
            lock.take()
            _LOCKS[self] = lock
            try:
                yield
            finally:
                self.let_go()

    def let_go(self) -> None:
        """Give the lock in the bucket back, when this process holds it."""
        lock = _LOCKS.pop(self, None)
        if lock is not None:
            lock.give_back()

    def ignores_case(self) -> bool:
        """False: keys are bytes."""
        return False

    def name_problem(self, name: str) -> str | None:
        """Say that a key would be too long."""
        if len(f"{self.prefix}/{name}".encode()) + _ROOM > LONGEST_KEY:
            return f"with the prefix it is longer than keys of a bucket, {LONGEST_KEY} bytes, allow"
        return None

    @property
    def client(self) -> S3Store:
        """What sends the requests; keys are relative to the prefix."""
        return _client(
            self.bucket, self.prefix, self.endpoint or s3_locations.endpoint(), self.region, _MOST_RETRIES
        )

    @property
    def service(self) -> str:
        """The endpoint, as people are told it."""
        return self.endpoint or s3_locations.endpoint() or "Amazon S3"

    def _keys(self, folder: str, after: str | None) -> Iterator[Any]:
        try:
            for page in obstore.list(self.client, folder or None, offset=after):
                yield from page
        except FAILURES as error:
            self._give_up("cannot list", folder, error)

    def _etag(self, name: str) -> str | None:
        try:
            return obstore.head(self.client, name)["e_tag"]
        except FileNotFoundError:
            return None  # a bucket that is not there answers so too; writing tells the two apart
        except FAILURES as error:
            self._give_up("cannot look at", name, error)

    def _put(self, local: Path, name: str) -> None:
        try:
            obstore.put(self.client, name, local, attributes=_attributes(name))
        except FAILURES as error:
            self._give_up("cannot write", name, error)

    def _check_own(self, name: str, content: bytes) -> None:
        """Refuse to go on when another has written; an answer of ours that got lost is no such case."""
        with contextlib.suppress(FileNotFoundError):
            if self.read(name) == content:
                return
        raise OutputBusyError(
            f"another run has written {self.location(name)} meanwhile; see that one run at a time writes to "
            f"{self}, and run again"
        )

    def _require_lock(self) -> None:
        lock = _LOCKS.get(self)
        if lock is not None and lock.loss:
            raise OutputBusyError(lock.loss)

    def _give_up(self, what: str, name: str, error: Exception) -> NoReturn:
        raise bucket_error(
            f"{what} {self.location(name)}", error, bucket=self.bucket, service=self.service
        ) from None


def bucket_output(
    url: str, *, workings: Path | None = None, endpoint: str | None = None, region: str | None = None
) -> BucketOutput:
    """An output by its URL.

    Parameters
    ----------
    url : str
        ``s3://BUCKET`` or ``s3://BUCKET/PREFIX``.
    workings : Path, optional
        A folder on this machine for what is not published; each output has its own in there. By default
        ``~/.shadowzarr/outputs``.
    endpoint, region : str, optional
        As for `BucketOutput`.

    Raises
    ------
    UsageError
        When it is no such URL.
    """
    bucket, _, prefix = url.removeprefix(SCHEME).partition("/")
    prefix = prefix.strip("/")
    parts = prefix.split("/") if prefix else []
    if not url.startswith(SCHEME) or not bucket or any(part in ("", ".", "..") for part in parts):
        raise UsageError(f"{url!r} is no place in a bucket; expected s3://<bucket>/<prefix>")
    if any(sign in url for sign in "?#@\\"):
        raise UsageError(f"{url!r} holds one of ? # @ \\, which the URL of an output cannot")
    service = (endpoint or s3_locations.endpoint() or "").rstrip("/")
    digest = hashlib.sha256(f"{service}\0{bucket}\0{prefix}".encode()).hexdigest()[:16]
    place = (workings or DEFAULT_WORKINGS).expanduser() / digest
    return BucketOutput(bucket, prefix, place, endpoint.rstrip("/") if endpoint else None, region)


@functools.lru_cache(maxsize=32)
def _client(bucket: str, prefix: str, endpoint: str | None, region: str | None, retries: int) -> S3Store:
    options: dict[str, Any] = {}
    if endpoint is not None:
        options["endpoint"] = endpoint
    if region is not None:
        options["region"] = region
    return S3Store(
        bucket,
        prefix=prefix or None,
        client_options={"allow_http": True, "user_agent": user_agent(), "timeout": _PUT_TIMEOUT},
        retry_config={"max_retries": retries, "retry_timeout": _RETRY_TIMEOUT},
        **options,
    )


def _attributes(name: str) -> dict[str, str]:
    """What a browser that is given a file is told about it."""
    control = cache_control(name)
    return {"Content-Type": content_type(name)} | ({} if control is None else {"Cache-Control": control})


def _closed(name: str, suffix: str) -> str | None:
    """The folder of a name that ends in a suffix, or nothing."""
    parts = name.split("/")
    for number, part in enumerate(parts[:-1], start=1):
        if part.endswith(suffix):
            return "/".join(parts[:number])
    return None
