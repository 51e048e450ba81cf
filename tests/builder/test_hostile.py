"""Whatever a builder is given: it is taken, and the document opens, or one error names the argument."""

import contextlib
from typing import Any

import numpy as np
import pytest

from shadowzarr import RfsBuilder, open_rfs
from shadowzarr.errors import UsageError
from shadowzarr.refs.selection import columns_selection

CALLS: dict[str, dict[str, Any]] = {
    "add_group": {"path": "g", "attributes": {"a": 1}},
    "add_array": {
        "path": "n",
        "shape": [4, 4],
        "data_type": "int16",
        "chunk_shape": [2, 2],
        "codecs": None,
        "fill_value": None,
        "attributes": None,
        "dimension_names": None,
    },
    "add_chunk": {"path": "d", "coordinates": (0, 0), "url": "u", "offset": 0, "length": 16},
    "add_chunks": {
        "path": "d",
        "url": "u",
        "coordinates": [[0, 0]],
        "offsets": [0],
        "nbytes": [16],
        "chunk_index_threshold": 1000,
    },
    "add_inline_chunk": {"path": "d", "coordinates": (0, 0), "data": bytes(16)},
    "add_index": {"path": "d", "url": "u", "index": np.zeros((5, 1, 2), np.uint64)},
    "add_strided_chunks": {
        "path": "d",
        "ndim": 2,
        "url": "u",
        "start": 0,
        "stride": 16,
        "length": 16,
        "count": 5,
        "axis": 0,
    },
    "add_spaced_chunks": {
        "path": "d",
        "url": "u",
        "start": 0,
        "length": 16,
        "counts": [5, 1],
        "strides": [16, 0],
        "first": [0, 0],
    },
    "add_contiguous_chunks": {
        "path": "d",
        "url": "u",
        "start": 0,
        "shape": [10, 4],
        "chunk_shape": [2, 4],
        "itemsize": 2,
        "row_bytes": None,
    },
    "add_selection": {"path": "d", "record_size": 10, "keep": [[0, 8]]},
    "set_attributes": {"path": "d", "attributes": {"a": 1}},
    "add_source": {"url": "u", "size": 3, "etag": '"x"'},
    "add_skipped": {"path": "x", "kind": "dataset", "reason": "r"},
    "add_converted": {"path": "x", "what": "r"},
}
VALUES = (
    *(None, True, -1, 0, 2**31, 2**63, 2**64, 10**30, 1.5, float("nan"), 1 + 2j, object(), len, ...),
    *(
        "",
        "x",
        "\ud800",
        "..",
        "a/./b",
        "/a",
        "a//b",
        "{{u0}}",
        b"x",
        {1},
        {},
        [],
        [[]],
        [None],
        [True, False],
    ),
    *([-1], [2**63], [2**64, 1], [1, "a"], [float("nan")], range(3), slice(2)),
    *(np.array(3), np.array([True, False]), np.int8(-3), np.uint64(2**63 + 1), np.ma.masked),
)


def outcome(builder: RfsBuilder, method: str, given: dict[str, Any]) -> str | None:
    """By which message a call is refused, at once or when the document is built."""
    try:
        getattr(builder, method)(**given)
        builder.build()
    except UsageError as error:
        return str(error)
    return None


@pytest.mark.parametrize("method", CALLS)
def test_each_argument_of_each_method(method: str) -> None:
    for argument in CALLS[method]:
        refused = 0
        for value in VALUES:
            builder = RfsBuilder()
            builder.add_array("d", shape=[10, 4], data_type="int16", chunk_shape=[2, 4])
            message = outcome(builder, method, {**CALLS[method], argument: value})
            if message is None:
                assert dict(open_rfs(builder.build()).members(max_depth=None))
                continue
            assert argument.rstrip("s") in message or "array" in message or argument == "path"
            refused += 1
        assert refused > 5, argument


@pytest.mark.parametrize("argument", ["n_columns", "itemsize", "columns"])
def test_columns(argument: str) -> None:
    for value in VALUES:
        given: dict[str, Any] = {"n_columns": 5, "itemsize": 2, "columns": [1, 2], argument: value}
        with contextlib.suppress(UsageError):
            record_size, keep = columns_selection(**given)
            assert all(0 <= start < stop <= record_size for start, stop in keep)
