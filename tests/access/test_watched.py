import os

from shadowzarr.access import watched


def test_nothing_is_told_where_nobody_watches(monkeypatch):
    monkeypatch.setattr(watched._TELLER, "pipe", None)
    watched.working_on("/a")
    watched.bytes_came()


def told(monkeypatch, *calls):
    reading, writing = os.pipe()
    monkeypatch.setattr(watched._TELLER, "pipe", None)
    monkeypatch.setattr(watched._TELLER, "last", 0.0)
    watched.watch_through(writing)
    try:
        for call, *arguments in calls:
            call(*arguments)
        os.close(writing)
        return os.read(reading, 1 << 20)
    finally:
        os.close(reading)


def test_what_is_told_is_a_line_each(monkeypatch):
    calls = [
        (watched.working_on, "/a\nb"),
        (watched.allow, 2.5),
        (watched.making, "x"),
        (watched.bytes_came,),
    ]
    assert told(monkeypatch, *calls) == b"w/a b\na2.5\nmx\nb\n"


def test_bytes_are_told_of_now_and_then_alone(monkeypatch):
    assert told(monkeypatch, *[(watched.bytes_came,)] * 1000) == b"b\n"


def test_a_watcher_that_does_not_read_is_not_waited_for(monkeypatch):
    reading, writing = os.pipe()
    monkeypatch.setattr(watched._TELLER, "pipe", None)
    watched.watch_through(writing)
    for number in range(20_000):
        watched.working_on(f"/object {number}")
    os.close(reading)
    watched.working_on("/one more")
    os.close(writing)
