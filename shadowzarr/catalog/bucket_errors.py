"""What a bucket refuses, in words for people: cause and remedy, and nothing of a request."""

from __future__ import annotations

import re

from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

from ..errors import OutputError, OutputUnavailableError

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([A-Za-z]{1,60})</Code>")
_PASSING = frozenset({"408", "429", "500", "502", "503", "504"})

FAILURES = (BaseError, FileNotFoundError)
"""What obstore raises."""


def bucket_error(what: str, error: Exception, *, bucket: str, service: str) -> OutputError:
    """The error to raise in place of one of obstore, whose text may hold whole requests.

    Parameters
    ----------
    what : str
        What could not be done, such as ``"cannot write s3://b/x"``.
    error : Exception
        What obstore raised.
    bucket : str
        Name of the bucket.
    service : str
        The endpoint, as it is told.
    """
    text = str(error)
    status, code = _found(_STATUS, text), _found(_CODE, text)
    if code == "NoSuchBucket":
        return OutputError(f"{what}: there is no bucket {bucket} at {service}; make it, or name another")
    if isinstance(error, (PermissionDeniedError, UnauthenticatedError)) or status in ("401", "403"):
        return OutputError(
            f"{what}: access is denied ({code or status or '403'}); the AWS_ variables must be those of "
            f"somebody who may list, read, write and delete in the bucket {bucket} at {service}"
        )
    if "credential" in text.lower() or "169.254." in text:
        return OutputError(
            f"{what}: no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
            "(profiles of ~/.aws are not read)"
        )
    if status == "501" or code == "NotImplemented":
        return OutputError(f"{what}: {service} does not know conditional writes, which an output needs")
    if status is None:
        elsewhere = "" if "://" in service else ", or set AWS_ENDPOINT_URL if the bucket is elsewhere"
        return OutputUnavailableError(f"{what}: {service} does not answer; try again later{elsewhere}")
    if status in _PASSING:
        return OutputUnavailableError(f"{what}: {service} answers {status}; try again later")
    return OutputError(f"{what}: {service} answers {status}{f' ({code})' if code else ''}")


def _found(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return None if match is None else match[1]
