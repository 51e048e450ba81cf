import io
import os
import pickle

import pytest

from shadowzarr.catalog.child_main import portable, serve
from shadowzarr.catalog.child_messages import MessageReader, receive, send
from shadowzarr.errors import TransientReadError


def sent(*messages) -> bytes:
    stream = io.BytesIO()
    for message in messages:
        send(stream, message)
    return stream.getvalue()


def test_messages_come_back_in_order_and_then_the_end():
    stream = io.BytesIO(sent("one", {"two": 2}))
    assert [receive(stream), receive(stream)] == ["one", {"two": 2}]
    with pytest.raises(EOFError):
        receive(stream)


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_messages_are_gathered_from_pieces(step):
    content = sent("a", list(range(100)), None)
    reading, writing = os.pipe()
    reader, found = MessageReader(reading), []
    for start in range(0, len(content), step):
        os.write(writing, content[start : start + step])
        assert reader.read_some()
        while reader.has_message():
            found.append(reader.next_message())
    os.close(writing)
    assert not reader.read_some()
    os.close(reading)
    assert found == ["a", list(range(100)), None]


def test_a_child_serves_until_its_jobs_end():
    jobs, results = io.BytesIO(sent(("math:sqrt", (9,), False), ("math:nothing", (), False))), io.BytesIO()
    serve(jobs, results, preload=["math"])
    results.seek(0)
    assert [receive(results) for _ in range(2)] == [("ready", None), ("result", 3.0)]
    kind, error = receive(results)
    assert kind == "error"
    assert isinstance(error, AttributeError)


def test_an_error_that_survives_pickling_travels_as_it_is():
    error = TransientReadError("busy", status=503, retry_after=2)
    assert portable(error) is error
    assert pickle.loads(pickle.dumps(error)).retry_after == 2
