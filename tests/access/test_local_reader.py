import asyncio
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shadowzarr.access import local_reader
from shadowzarr.access.local_reader import LocalReader
from shadowzarr.access.source_identity import Source
from shadowzarr.errors import ReadError, ShortReadError, SourceChangedError, SourceNotFoundError
from shadowzarr.refs.byte_range import FileRange


@pytest.fixture
def path(tmp_path, content):
    file = tmp_path / "a b.bin"
    file.write_bytes(content)
    return file


@pytest.fixture
def local():
    return LocalReader()


def open_files(path):
    folder = Path(f"/proc/{os.getpid()}/fd")
    return sum(os.path.realpath(name) == str(path) for name in folder.iterdir())


def test_ranges_in_the_order_asked(local, path, content):
    wanted = [FileRange(50, 10), FileRange(0, 3), FileRange(99_999, 1), FileRange(7, 0)]
    assert local.read(str(path), wanted) == [content[w.offset : w.stop] for w in wanted]


def test_file_urls(local, path, content):
    assert local.read(path.as_uri(), [FileRange(1, 2)]) == [content[1:3]]


def test_whole_and_size(local, path, content):
    assert local.read_whole(str(path)) == content
    assert local.probe(str(path)).total == len(content)
    assert asyncio.run(local.read_whole_async(str(path))) == content


def test_awaited(local, path, content):
    assert asyncio.run(local.read_async(str(path), [FileRange(3, 4)])) == [content[3:7]]


def test_the_size_is_checked(local, path, content):
    local.read(str(path), [FileRange(0, 1)], source=Source(str(path), len(content)))
    with pytest.raises(SourceChangedError, match=f"{len(content)} bytes, expected 5"):
        local.read(str(path), [FileRange(0, 1)], source=Source(str(path), 5))


def test_a_file_that_shrinks_is_noticed_although_it_is_open(local, path, content):
    source = Source(str(path), len(content))
    local.read(str(path), [FileRange(0, 1)], source=source)
    os.truncate(path, 10)
    with pytest.raises(SourceChangedError):
        local.read(str(path), [FileRange(0, 1)], source=source)
    with pytest.raises(ShortReadError, match="only 10 bytes"):
        local.read(str(path), [FileRange(5, 10)])


def test_a_file_that_replaces_another_is_opened(local, path, content):
    local.read(str(path), [FileRange(0, 4)])
    other = path.with_name("other")
    other.write_bytes(b"x" * len(content))
    other.replace(path)
    assert local.read(str(path), [FileRange(0, 4)]) == [b"xxxx"]


def test_past_the_end(local, path, content):
    for wanted in (FileRange(len(content) - 1, 2), FileRange(len(content) + 5, 1)):
        with pytest.raises(ShortReadError, match="only 100000 bytes"):
            local.read(str(path), [wanted])


def test_a_read_that_the_kernel_cuts_goes_on(local, path, content, monkeypatch):
    real = os.pread
    monkeypatch.setattr(local_reader.os, "pread", lambda fd, n, offset: real(fd, min(n, 1000), offset))
    assert local.read(str(path), [FileRange(10, 4500)]) == [content[10:4510]]


@pytest.mark.parametrize("name", ["missing.bin", "a b.bin/below"])
def test_nothing_there(local, path, name):
    with pytest.raises(SourceNotFoundError, match="no such file"):
        local.read(str(path.parent / name), [FileRange(0, 1)])


def test_what_is_no_file(local, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ReadError, match="regular file"):
            local.read(str(path), [FileRange(0, 1)])
    with pytest.raises(ReadError):
        local.read("a\0b", [FileRange(0, 1)])


def test_files_are_kept_open_and_closed_in_the_end(path):
    local = LocalReader()
    for _ in range(3):
        local.read(str(path), [FileRange(0, 1)])
    assert open_files(path) == 1
    del local
    assert open_files(path) == 0


def test_no_more_than_so_many_files_are_open(tmp_path, local):
    count = local_reader._MAX_OPEN + 20
    for i in range(count):
        (tmp_path / str(i)).write_bytes(bytes([i % 256]))
    for _ in range(2):
        for i in range(count):
            assert local.read(str(tmp_path / str(i)), [FileRange(0, 1)]) == [bytes([i % 256])]
    assert sum(open_files(tmp_path / str(i)) for i in range(count)) == local_reader._MAX_OPEN


def test_threads_that_push_each_others_files_out_read_their_own(tmp_path, local, monkeypatch):
    monkeypatch.setattr(local_reader, "_MAX_OPEN", 2)
    for i in range(20):
        (tmp_path / str(i)).write_bytes(bytes([i]) * 100)

    def read(i):
        return all(
            local.read(str(tmp_path / str(i)), [FileRange(0, 100)]) == [bytes([i]) * 100] for _ in range(100)
        )

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(read, range(20)))


@pytest.mark.parametrize("size", [10, 1000])
def test_a_whole_file_is_one_file_also_when_another_takes_its_place(tmp_path, local, monkeypatch, size):
    """Its size was asked of the one and its bytes of the other, which gave a part of that."""
    path, other = tmp_path / "refs.json", tmp_path / "new"
    path.write_bytes(b"a" * 100)
    other.write_bytes(b"b" * size)
    opened = LocalReader._open

    def replaced(reader, name, **options):
        file = opened(reader, name, **options)
        if other.exists():
            other.replace(path)
        return file

    monkeypatch.setattr(LocalReader, "_open", replaced)
    assert [bytes(local.read_whole(str(path))) for _ in range(2)] == [b"a" * 100, b"b" * size]


def test_a_file_that_was_read_whole_is_not_kept_open(path, local, content):
    assert local.read_whole(str(path)) == content
    assert open_files(path) == 0
    local.read(str(path), [FileRange(0, 1)])
    assert local.read_whole(str(path)) == content
    assert open_files(path) == 1


def test_pickled_without_open_files(local, path, content):
    local.read(str(path), [FileRange(0, 1)])
    again = pickle.loads(pickle.dumps(local))
    assert again._files == {}
    assert again.read(str(path), [FileRange(0, 3)]) == [content[:3]]


@pytest.mark.parametrize("wanted", [FileRange(0, 2**50), FileRange(2**62, 2**62), FileRange(2**70, 1)])
def test_a_length_beyond_the_file_is_not_allocated(local, path, wanted, monkeypatch):
    real, asked = os.pread, []
    monkeypatch.setattr(local_reader.os, "pread", lambda fd, n, at: asked.append(n) or real(fd, n, at))
    with pytest.raises(ShortReadError, match="only 100000 bytes"):
        local.read(str(path), [wanted])
    assert sum(asked) <= 100_000
