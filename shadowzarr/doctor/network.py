"""Whether the archive is reached, its key accepted, the clock right, and a bucket can be listed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from ..access.archives import archive_named
from ..access.dandi_api import DandiArchive
from ..access.http_client import RetryPolicy
from ..errors import ArchiveUnavailableError, MissingCredentialsError, ShadowzarrError
from .finding import Finding

_TRIES: Final = RetryPolicy(attempts=2, total=10.0)
MOST_SECONDS_OFF: Final = 300
"""By how much a clock may differ; S3 refuses requests that are signed 15 minutes off."""


def archive(name: str) -> Iterator[Finding]:
    """Ask an archive who it is, with its key when there is one."""
    known = archive_named(name)
    variable = None if known is None else known.key_env
    has_key = bool(variable and os.environ.get(variable))
    try:
        with DandiArchive(name, retries=_TRIES) as asked:
            date = asked.date()
    except ArchiveUnavailableError as error:
        remedy = "local files and what is cached work without it; --offline leaves this out"
        yield Finding("archive", "note", f"offline, or the archive is down: {error}", remedy)
        if variable:
            yield Finding("key", "note", _key(variable, has_key=has_key) + "; not tried")
        return
    except MissingCredentialsError as error:
        yield Finding("key", "wrong", str(error), f"unset {variable}, or give it a key of yours")
        return
    except ShadowzarrError as error:
        yield Finding("archive", "wrong", str(error), "check the name or the URL of the API")
        return
    yield Finding("archive", "fine", f"{asked.api_url} answers")
    if variable:
        accepted = "; the archive accepts it" if has_key else ", which only embargoed assets need"
        yield Finding("key", "fine" if has_key else "note", _key(variable, has_key=has_key) + accepted)
    yield clock(date, datetime.now(UTC))


def clock(date: str | None, now: datetime) -> Finding:
    """Compare the time here with the date of an answer."""
    try:
        there = parsedate_to_datetime(date or "")
    except ValueError:
        return Finding("clock", "note", "not compared: the archive's answer has no date")
    seconds = (now - there).total_seconds()
    if abs(seconds) <= MOST_SECONDS_OFF:
        return Finding("clock", "fine", "within five minutes of the archive's")
    direction = "ahead of" if seconds > 0 else "behind"
    says = f"{abs(seconds):,.0f} s {direction} the archive's; signed requests will be refused"
    return Finding("clock", "wrong", says, "set the clock, such as by timedatectl set-ntp true")


def bucket(url: str) -> Iterator[Finding]:
    """List a bucket with the credentials of the environment."""
    from ..catalog.bucket_output import bucket_output

    try:
        bucket_output(url).check()
    except ShadowzarrError as error:
        remedy = "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL"
        yield Finding("s3", "wrong", str(error), remedy)
    else:
        yield Finding("s3", "fine", f"{url} can be listed")


def _key(variable: str, *, has_key: bool) -> str:
    return f"{variable} is {'set' if has_key else 'not set'}"
