"""Servers on the loopback interface for tests, demos and benchmarks.

`RangeServer` serves files as S3 does, with faults to order. Needs nothing beyond the base install.
"""

from .cross_origin import CrossOrigin
from .faults import Effects, Fault, Faults
from .range_server import RangeServer
from .request_log import LoggedRequest, RequestLog

__all__ = [
    "CrossOrigin",
    "Effects",
    "Fault",
    "Faults",
    "LoggedRequest",
    "RangeServer",
    "RequestLog",
]
