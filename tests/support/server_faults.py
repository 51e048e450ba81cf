"""What servers do wrong, and what must come of it: right values, or one clear error."""

from dataclasses import dataclass
from typing import Any

from shadowzarr.errors import (
    AccessDeniedError,
    ReadError,
    ShadowzarrError,
    ShortReadError,
    SourceNotFoundError,
    TransientReadError,
)

BUSY = "Wed, 21 Oct 2015 07:28:00 GMT"


@dataclass(frozen=True)
class ServerFault:
    """One fault.

    Attributes
    ----------
    effects : dict
        Of `shadowzarr.testing.Fault`.
    passing : bool
        Whether values are right when it shows twice and then goes away.
    lasting : type or None
        The error when it stays; None when values are right all the same.
    of_whole : type or None
        The error where whole files are read, not ranges of them, if it is another.
    passing_of_whole : bool
        The same of `passing`: only what is in such a file can tell that its end is missing.
    says : str
        What the error's message matches.
    """

    effects: dict[str, Any]
    passing: bool = True
    lasting: type[Exception] | None = TransientReadError
    of_whole: type[Exception] | None = Exception
    passing_of_whole: bool = True
    says: str = ""

    def error(self, *, is_whole: bool, is_lasting: bool) -> type[Exception] | None:
        """What is to be raised; None when values are to be right."""
        passing = self.passing and (self.passing_of_whole or not is_whole)
        if passing and not is_lasting:
            return None
        return self.of_whole if is_whole and self.of_whole is not Exception else self.lasting


def _busy(status: int, **more: Any) -> ServerFault:
    return ServerFault({"status": status, **more}, says=f"answered {status}.* tries")


def _lasting(kind: type[Exception], says: str, **effects: Any) -> ServerFault:
    return ServerFault(effects, passing=False, lasting=kind, says=says)


def _harmless(**effects: Any) -> ServerFault:
    return ServerFault(effects, lasting=None)


FAULTS = {
    "500": _busy(500),
    "502 as a page": _busy(502, html=True),
    "503": _busy(503),
    "504": _busy(504),
    "408": _busy(408),
    "429": _busy(429),
    "429, Retry-After 0": _busy(429, retry_after=0),
    "503, Retry-After a date": _busy(503, retry_after=BUSY),
    "503, Retry-After a word": _busy(503, retry_after="soon"),
    "503, Retry-After negative": _busy(503, retry_after="-86400"),
    "503, Retry-After not a number": _busy(503, retry_after="nan"),
    "503, Retry-After infinite": _busy(503, retry_after="1e999"),
    "503, Retry-After a year": _lasting(
        TransientReadError, "answered 503", status=503, retry_after=31_536_000
    ),
    "503, Retry-After the year 9999": _lasting(
        TransientReadError, "answered 503", status=503, retry_after="Fri, 31 Dec 9999 23:59:59 GMT"
    ),
    "501": _lasting(ReadError, "answered 501", status=501),
    "400": _lasting(ReadError, "answered 400", status=400),
    "401": _lasting(AccessDeniedError, "401", status=401),
    "403": _lasting(AccessDeniedError, "403", status=403),
    "404": _lasting(SourceNotFoundError, "404|no references", status=404),
    "412": _lasting(ShadowzarrError, "not the file|none was sent", status=412),
    "416": _lasting(ShadowzarrError, "416|empty|begins with b''", status=416),  # a file without a first byte
    "304": _lasting(ReadError, "304", status=304),
    "204": _lasting(ReadError, "204|Range", status=204),
    "dropped": ServerFault({"drop": True}, says="connection failed.* tries"),
    "reset in the body": ServerFault({"reset_after": 20}, says="tries"),
    "short body": ServerFault({"short_by": 5}, says="tries"),
    "short body, told": ServerFault(
        {"short_by": 5, "declare_short": True},
        lasting=ShortReadError,
        of_whole=ShadowzarrError,
        passing_of_whole=False,
        says="came|not JSON|damaged",
    ),
    "short body in chunks": ServerFault({"short_by": 5, "framing": "chunked"}, says="tries"),
    "another start": ServerFault({"shift_start": 7}, of_whole=None, says="the answer says.* tries"),
    "no Content-Range": ServerFault({"hide_range": True}, of_whole=None, says="the answer says.* tries"),
    "the whole file": ServerFault(
        {"ignore_range": True}, passing=False, lasting=ReadError, of_whole=None, says="ignores Range"
    ),
    "gzip": _lasting(ReadError, "encoded as gzip", gzip=True),
    "redirects in circles": ServerFault(
        {"status": 302, "location": "{path}"}, lasting=ReadError, says="redirects"
    ),
    "a redirect to nowhere": _lasting(ReadError, "302", status=302),
    "HTTP/1.0": _harmless(http10=True),
    "HTTP/1.0 without a length": _harmless(http10=True, framing="close"),
    "in chunks": _harmless(framing="chunked"),
    "the connection closed after each answer": _harmless(hang_up=True),
    "slow": _harmless(bandwidth=3e6, latency=0.002),
}
