"""Presigned URLs of the object store: AWS signature version 4 in the query.

A signature covers method, path, host, expiry and everything else in the query, and is checked.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import math
import secrets
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from urllib.parse import quote

from ..http_messages import Request, Response
from ..object_responses import error_response

DEFAULT_LIFETIME = 6 * 3600.0
_ALGORITHM = "AWS4-HMAC-SHA256"
_SCOPE = "us-east-2/s3/aws4_request"
_ACCESS_KEY = "AKIASTANDINSTANDIN00"
_SIGNATURE = "X-Amz-Signature"
_MOMENT = "X-Amz-Security-Token"

_Pairs = Iterable[tuple[str, str]]


class UrlSigner:
    """Signs URLs of one object store and checks them.

    Parameters
    ----------
    lifetime : float
        Seconds for which a URL is good; may be changed later, for URLs signed from then on.
    """

    def __init__(self, *, lifetime: float = DEFAULT_LIFETIME) -> None:
        self.lifetime = lifetime
        self._secret = secrets.token_bytes(32)
        self._numbers = itertools.count(1)
        self._last_expired = 0

    def sign(self, method: str, host: str, path: str, query: _Pairs = ()) -> str:
        """Give a URL that is good for `lifetime` seconds.

        Parameters
        ----------
        method : str
            The one method that it is good for.
        host : str
            Host and port of the store.
        path : str
            Decoded path, with its leading slash.
        query : iterable of pairs
            Further parameters, such as ``response-content-disposition``.
        """
        now = time.time()
        date = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
        pairs = [
            *query,
            ("X-Amz-Algorithm", _ALGORITHM),
            ("X-Amz-Credential", f"{_ACCESS_KEY}/{date[:8]}/{_SCOPE}"),
            ("X-Amz-Date", date),
            ("X-Amz-Expires", str(math.ceil(self.lifetime))),
            ("X-Amz-SignedHeaders", "host"),
            # S3's dates have whole seconds. This makes each URL differ, and short lifetimes exact.
            (_MOMENT, f"{next(self._numbers)}/{now + self.lifetime!r}"),
        ]
        signature = self._signature(method, host, path, pairs)
        return f"http://{host}{_quote(path, safe='/')}?{_canonical([*pairs, (_SIGNATURE, signature)])}"

    def expire_all(self) -> None:
        """Let every URL signed so far expire at once."""
        self._last_expired = next(self._numbers)

    def check(self, request: Request) -> Response | None:
        """Check a presigned request; None when it is good, else the store's refusal."""
        given = request.parameters.get(_SIGNATURE, "")
        pairs = [pair for pair in request.query if pair[0] != _SIGNATURE]
        host = request.headers.get("host", "")
        expected = self._signature(request.method, host, request.path, pairs)
        if not hmac.compare_digest(given.encode(), expected.encode()):
            return error_response(
                403,
                code="SignatureDoesNotMatch",
                message="The request signature we calculated does not match the signature you provided. "
                "Check your key and signing method.",
            )
        number, _, end = request.parameters[_MOMENT].partition("/")
        if int(number) <= self._last_expired or time.time() >= float(end):
            return error_response(403, message="Request has expired")
        return None

    def _signature(self, method: str, host: str, path: str, pairs: _Pairs) -> str:
        pairs = list(pairs)
        date = dict(pairs).get("X-Amz-Date", "")
        canonical = (
            f"{method}\n{_quote(path, safe='/')}\n{_canonical(pairs)}\nhost:{host}\n\nhost\nUNSIGNED-PAYLOAD"
        )
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        text = f"{_ALGORITHM}\n{date}\n{date[:8]}/{_SCOPE}\n{digest}"
        key = b"AWS4" + self._secret
        for part in (date[:8], *_SCOPE.split("/")):
            key = hmac.digest(key, part.encode(), "sha256")
        return hmac.digest(key, text.encode(), "sha256").hex()


def _canonical(pairs: _Pairs) -> str:
    return "&".join(f"{_quote(name)}={_quote(value)}" for name, value in sorted(pairs))


def _quote(text: str, *, safe: str = "") -> str:
    return quote(text, safe=f"-_.~{safe}")
