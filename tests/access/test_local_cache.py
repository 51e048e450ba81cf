import copy
import itertools
import multiprocessing
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowzarr.access import cache_database
from shadowzarr.access.local_cache import CacheWarning, LocalCache
from shadowzarr.access.source_identity import Source
from shadowzarr.errors import OutputError, UsageError
from shadowzarr.refs.byte_range import FileRange

SOURCE = Source("https://example.org/a.nwb?signature=1", 1000, '"e"')


def content(part, seed=0):
    return bytes((i * 7 + seed) % 251 for i in range(part.offset, part.stop))


def put(cache, *parts, source=SOURCE, seed=0):
    cache.put_many(source, parts, [content(part, seed) for part in parts])


def get(cache, part, source=SOURCE):
    (found,) = cache.get_many(source, [part])
    return None if found is None else bytes(found)


@pytest.fixture
def cache(tmp_path):
    return LocalCache(tmp_path / "cache")


def test_what_was_put_is_kept_for_others(cache):
    part = FileRange(10, 90)
    assert get(cache, part) is None
    put(cache, part)
    for other in (
        cache,
        LocalCache(cache.path.parent),
        pickle.loads(pickle.dumps(cache)),
        copy.deepcopy(cache),
    ):
        assert get(other, part) == content(part)
        assert other == cache


def test_ranges_within_a_kept_one_are_served_from_it(cache):
    put(cache, FileRange(100, 100), FileRange(200, 50))
    for part in (FileRange(100, 1), FileRange(199, 1), FileRange(120, 30), FileRange(200, 50)):
        assert get(cache, part) == content(part)
    for part in (FileRange(99, 2), FileRange(199, 2), FileRange(0, 1000), FileRange(250, 1), FileRange(0, 5)):
        assert get(cache, part) is None


def test_a_changed_source_gets_no_old_bytes(cache):
    part = FileRange(0, 10)
    put(cache, part)
    assert get(cache, part, Source(SOURCE.url, 1000, '"f"')) is None
    assert get(cache, part, Source("https://example.org/b.nwb", 1000, '"e"')) is None
    assert get(cache, part, Source("https://example.org/a.nwb?signature=2", 1000, '"e"')) == content(part)


@pytest.mark.parametrize(
    ("source", "is_kept"),
    [
        (SOURCE, True),
        (Source("s3://bucket/key", None, '"e"'), True),
        (Source("https://example.org/a", 10, None), False),
        (Source("https://example.org/a", 10, 'W/"e"'), False),
        (Source("/data/a.nwb", 10, '"e"'), False),
        (None, False),
    ],
)
def test_only_files_whose_changes_are_noticed_are_kept(cache, source, is_kept):
    assert cache.keeps(source) is is_kept


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40)), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40)), max_size=12),
)
@settings(max_examples=60, deadline=None)
def test_any_ranges(tmp_path_factory, kept, wanted):
    cache = LocalCache(tmp_path_factory.mktemp("cache"))
    for offset, length in kept:
        put(cache, FileRange(offset, length))
    for offset, length in wanted:
        found = get(cache, FileRange(offset, length))
        is_within = any(o <= offset and offset + length <= o + n for o, n in kept)
        assert found == (content(FileRange(offset, length)) if is_within else None)
    check(cache)


def check(cache):
    """Everything in the database is whole, and its totals are right."""
    with closing(sqlite3.connect(cache.path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = database.execute(
            "SELECT source, start, length, data FROM ranges ORDER BY source, start"
        ).fetchall()
        total = database.execute("SELECT nbytes, count FROM total").fetchone()
    assert total == (sum(row[2] for row in rows), len(rows))
    for _, start, length, data in rows:
        assert data == content(FileRange(start, length))
    for first, second in itertools.pairwise(rows):
        assert first[0] != second[0] or first[1] + first[2] < second[1] + second[2]
    return rows


def test_the_least_recently_used_go_first(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_database, "_TOUCH", -1.0)
    cache = LocalCache(tmp_path, max_size_bytes=300)
    parts = [FileRange(i * 1000, 100) for i in range(4)]
    for part in parts[:3]:
        put(cache, part)
    assert get(cache, parts[0])
    put(cache, parts[3])
    assert [get(cache, part) is not None for part in parts] == [True, False, True, True]
    assert cache.info().nbytes == 300
    put(cache, FileRange(9000, 301))  # larger than the whole cache: nothing leaves for it
    assert cache.info().nbytes == 300


def test_a_limit_of_nothing_keeps_nothing(tmp_path):
    cache = LocalCache(tmp_path, max_size_bytes=0)
    put(cache, FileRange(0, 1))
    assert get(cache, FileRange(0, 1)) is None
    with pytest.raises(UsageError, match="max_size_bytes"):
        LocalCache(tmp_path, max_size_bytes=-1)


def test_info_and_clear(cache):
    assert cache.info().on_disk == 0
    cache.clear()
    assert not cache.path.exists()
    put(cache, FileRange(0, 200_000))
    put(cache, FileRange(0, 100), source=Source("https://example.org/b", 9, '"x"'))
    info = cache.info()
    assert (info.nbytes, info.ranges, info.sources, info.path) == (200_100, 2, 2, cache.path)
    assert info.on_disk > 200_000
    cache.clear()
    info = cache.info()
    assert (info.nbytes, info.ranges, info.sources) == (0, 0, 0)
    assert info.on_disk < 150_000
    put(cache, FileRange(0, 100))
    assert get(cache, FileRange(0, 100)) == content(FileRange(0, 100))


def test_many_threads(cache):
    def work(number):
        for i in range(20):
            part = FileRange((number + i) % 30 * 100, 100 + number)
            put(cache, part)
            assert get(cache, FileRange(part.offset + 5, 20)) == content(FileRange(part.offset + 5, 20))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    check(cache)


WORK = """
import sys
from shadowzarr.access.local_cache import LocalCache
from shadowzarr.access.source_identity import Source
from shadowzarr.refs.byte_range import FileRange

cache = LocalCache(sys.argv[1], max_size_bytes=int(sys.argv[2]))
source = Source("https://example.org/a.nwb", 1000, '"e"')
for i in range(int(sys.argv[3]), int(sys.argv[4])):
    part = FileRange(i * 5000, 5000)
    cache.put_many(source, [part], [bytes(j * 7 % 251 for j in range(part.offset, part.stop))])
    (found,) = cache.get_many(source, [part])
    print(i, flush=True)
"""


def start(folder, limit, first, stop):
    code = [sys.executable, "-W", "error", "-c", WORK, str(folder), str(limit), str(first), str(stop)]
    return subprocess.Popen(code, stdout=subprocess.PIPE, text=True)


def test_several_processes_begin_and_write_at_once(tmp_path):
    workers = [start(tmp_path / "new" / "folder", 200_000, i * 20, i * 20 + 40) for i in range(4)]
    for worker in workers:
        out, _ = worker.communicate(timeout=120)
        assert worker.returncode == 0
        assert len(out.splitlines()) == 40
    rows = check(LocalCache(tmp_path / "new" / "folder"))
    assert len(rows) == 40


def test_a_killed_process_leaves_what_it_had_written(tmp_path):
    for round_ in range(5):
        worker = start(tmp_path, 10**9, round_ * 1000, round_ * 1000 + 1000)
        last = -1
        while last < round_ * 1000 + 3 + 7 * round_:
            last = int(worker.stdout.readline())
        os.kill(worker.pid, signal.SIGKILL)
        worker.communicate()
        assert worker.returncode == -signal.SIGKILL
        cache = LocalCache(tmp_path)
        for i in range(round_ * 1000, last + 1):
            part = FileRange(i * 5000, 5000)
            assert get(cache, part, Source("https://example.org/a.nwb", 1000, '"e"')) == content(part)
    check(LocalCache(tmp_path))


def _use_in_child(cache):
    put(cache, FileRange(5000, 100))
    return get(cache, FileRange(0, 100)) == content(FileRange(0, 100))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_children_and_their_parent_go_on(cache):
    put(cache, FileRange(0, 100))
    with ThreadPoolExecutor(4) as threads:
        busy = [threads.submit(lambda i=i: put(cache, FileRange(i * 1000, 100))) for i in range(10, 200)]
        with multiprocessing.get_context("fork").Pool(3) as pool:
            assert pool.map(_use_in_child, [cache] * 6, chunksize=1) == [True] * 6
        for each in busy:
            each.result()
    assert get(cache, FileRange(5000, 100)) == content(FileRange(5000, 100))
    assert check(cache)


def test_a_damaged_range_is_dropped(cache):
    put(cache, FileRange(0, 100), FileRange(200, 100))
    with sqlite3.connect(cache.path) as database:
        database.execute("UPDATE ranges SET data = zeroblob(100) WHERE start = 0")
        database.execute("UPDATE ranges SET data = substr(data, 1, 10) WHERE start = 200")
    database.close()
    assert get(cache, FileRange(0, 10)) is None
    assert get(cache, FileRange(200, 5)) is None
    assert cache.info().ranges == 0
    put(cache, FileRange(0, 100))
    assert get(cache, FileRange(0, 10)) == content(FileRange(0, 10))


def test_a_damaged_database_is_told_once_and_read_past(cache):
    cache.path.parent.mkdir()
    cache.path.write_bytes(b"this is no database" * 1000)
    with pytest.warns(CacheWarning, match="read without it"):
        assert get(cache, FileRange(0, 10)) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        put(cache, FileRange(0, 10))
    for use in (cache.info, cache.clear):
        with pytest.raises(OutputError, match="cannot be used"):
            use()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    cache = LocalCache(tmp_path / "file" / "cache")
    with pytest.warns(CacheWarning):
        put(cache, FileRange(0, 10))


def test_a_folder_that_is_removed_meanwhile(cache):
    put(cache, FileRange(0, 10))
    for file in cache.path.parent.iterdir():
        file.unlink()
    cache.path.parent.rmdir()
    assert get(cache, FileRange(0, 10)) is None
    put(cache, FileRange(0, 10))
    assert get(cache, FileRange(0, 10)) == content(FileRange(0, 10))


def test_the_default_folder_is_in_the_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert LocalCache().path.parent == tmp_path / ".shadowzarr" / "cache"
    assert repr(LocalCache(max_size_bytes=5)).endswith("max_size_bytes=5)")
    assert not (tmp_path / ".shadowzarr").exists()
