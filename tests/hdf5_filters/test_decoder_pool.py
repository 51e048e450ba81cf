"""Decoder processes that crash, hang, grow, are killed or left behind.

What they meet is a filter that a module named ``hdf5plugin`` makes known to HDF5: ours, not the real one.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from shadowzarr.errors import (
    ChildCrashedError,
    ChildStartError,
    ChildTimedOutError,
    DamagedSourceError,
    InvalidReferencesError,
    MissingDependencyError,
    UnsupportedError,
)
from shadowzarr.hdf5_filters import decoder_pool, decoder_process
from shadowzarr.hdf5_filters.decoder_messages import DECODE, EndedError, Request, read_answer
from shadowzarr.hdf5_filters.decoder_pool import DecoderPool

GZIP = ((1, (4,)),)
LONG = 120  # seconds in which anything happens on the busiest machine

PLUG_IN = """
    import ctypes, os, time
    from pathlib import Path
    from h5py import h5z
    from shadowzarr.hdf5_filters.guard import _CALLBACK, _FilterClass

    def undo(flags, count, values, nbytes, capacity, buffer):
        if values[0] == 1:
            ctypes.string_at(0)
        if values[0] == 2:
            ctypes.CDLL(None).sleep(10_000)  # C code that never returns, with or without Python's lock
        if values[0] == 3:
            os._exit(0)
        if values[0] == 4:
            os.write(1, b"a library says something")
        if values[0] == 5 and Path(os.environ["CRASH_ONCE"]).exists():
            Path(os.environ["CRASH_ONCE"]).unlink()
            ctypes.string_at(0)
        return nbytes

    callback = _CALLBACK(undo)
    kind = _FilterClass(1, 54321, 1, 1, b"test", None, None, callback)
    h5z.register_filter(ctypes.addressof(kind))
"""
FINE, CRASHES, HANGS, EXITS, PRINTS, CRASHES_ONCE = range(6)


@pytest.fixture
def plug_in(tmp_path, monkeypatch):
    (tmp_path / "hdf5plugin.py").write_text(textwrap.dedent(PLUG_IN))
    monkeypatch.syspath_prepend(tmp_path)


@pytest.fixture
def pool(plug_in):
    made = DecoderPool(2, seconds=5)
    yield made
    made.close()


def request(filters=GZIP, data=None, nbytes=400):
    return Request(
        DECODE, filters, nbytes, memoryview(zlib.compress(bytes(nbytes)) if data is None else data)
    )


def own(what, size=8):
    return request(((54321, (what,)),), bytes(size), size)


def processes(pool):
    return [psutil.Process(process._process.pid) for process in pool._all]


def wait_until(statement):
    end = time.monotonic() + LONG
    while not statement():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_gone(number):
    return not psutil.pid_exists(number) or psutil.Process(number).status() == psutil.STATUS_ZOMBIE


def test_one_process_serves_one_thread(pool):
    assert pool._all == set()
    for _ in range(5):
        assert pool.run(request()) == bytes(400)
    assert len(processes(pool)) == 1


def test_there_are_no_more_processes_than_places(pool):
    with ThreadPoolExecutor(8) as threads:
        assert set(map(bytes, threads.map(pool.run, [request() for _ in range(40)]))) == {bytes(400)}
    assert len(processes(pool)) <= 2


@pytest.mark.parametrize(("what", "how"), [(CRASHES, "SIGSEGV"), (EXITS, "exit code 0")])
def test_a_crash_is_an_error_and_the_next_chunk_is_read(pool, what, how):
    with pytest.raises(
        ChildCrashedError, match=rf"crashed \({how}\) on a chunk of 8 bytes .* HDF5 filter 54321"
    ):
        pool.run(own(what))
    assert pool.run(own(FINE)) == bytes(8)
    assert [child.status() for child in psutil.Process().children()].count(psutil.STATUS_ZOMBIE) == 0


def test_a_chunk_is_not_blamed_for_those_before_it(pool, tmp_path, monkeypatch):
    """What has damaged the memory of a process may let it crash over a chunk that is good."""
    monkeypatch.setenv("CRASH_ONCE", str(tmp_path / "once"))
    (tmp_path / "once").touch()
    pool.run(own(FINE))
    assert pool.run(own(CRASHES_ONCE)) == bytes(8)
    assert not (tmp_path / "once").exists()


def test_what_never_ends_is_an_error(plug_in):
    pool = DecoderPool(1, seconds=0.5)
    with pytest.raises(ChildTimedOutError, match="too long over a chunk of 8 bytes"):
        pool.run(own(HANGS))
    pool.close()


def test_what_libraries_print_is_no_answer(pool):
    assert pool.run(own(PRINTS)) == bytes(8)


def test_a_process_that_has_met_a_damaged_chunk_is_not_used_again(pool):
    pool.run(request())
    before = pool._all.copy()
    with pytest.raises(DamagedSourceError, match=r"12 bytes does not decode by the filters gzip"):
        pool.run(request(data=b"no gzip here"))
    assert before
    assert not before & pool._all
    assert pool.run(request()) == bytes(400)


def test_errors_come_back_as_they_are(pool):
    with pytest.raises(InvalidReferencesError, match="level"):
        pool.run(request(((1, (10,)),)))
    with pytest.raises(MissingDependencyError, match="HDF5 filter 299"):
        pool.run(request(((299, ()),)))
    with pytest.raises(UnsupportedError, match="can only be undone"):
        pool.run(Request(2, ((54321, (0,)),), 8, memoryview(bytes(8))))
    assert len(processes(pool)) == 1  # none of them was the chunk's fault


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the address space has no limit")
def test_a_chunk_takes_no_more_memory_than_one_of_its_size_may():
    pool = DecoderPool(1)
    packer, piece = zlib.compressobj(1), bytes(2**24)
    bomb = b"".join([*(packer.compress(piece) for _ in range(64)), packer.flush()])
    with pytest.raises(DamagedSourceError) as raised:
        pool.run(request(data=bomb, nbytes=2**20))
    assert "decodes to" not in str(raised.value)  # it was not unpacked to be measured
    large = 2**29 + 2**20
    assert len(pool.run(request(nbytes=large))) == large
    pool.close()


def test_a_chunk_of_another_size_is_an_error(pool):
    for size in (399, 401):
        with pytest.raises(DamagedSourceError, match=f"it decodes to {size} bytes, not 400"):
            pool.run(request(data=zlib.compress(bytes(size))))


def test_a_killed_process_is_replaced(pool):
    pool.run(request())
    (process,) = processes(pool)
    process.kill()
    assert pool.run(request()) == bytes(400)
    assert len(processes(pool)) == 1


def test_no_process_is_left_at_the_end():
    code = """
        import os, zlib
        from shadowzarr.hdf5_filters import decoder_pool
        decoder_pool.decode(((1, (4,)),), zlib.compress(bytes(9)), 9)
        (process,) = decoder_pool._pool._all
        print(process._process.pid)
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    wait_until(lambda: is_gone(int(done.stdout)))


@pytest.mark.parametrize("has_child", [False, True], ids=["alone", "with a forked child that lives on"])
def test_processes_end_with_a_parent_that_is_killed(has_child):
    code = f"""
        import os, time, zlib
        from shadowzarr.hdf5_filters import decoder_pool
        decoder_pool.decode(((1, (4,)),), zlib.compress(bytes(9)), 9)
        (process,) = decoder_pool._pool._all
        other = os.fork() if {has_child} else 0
        if other or not {has_child}:
            print(process._process.pid, other, flush=True)
        time.sleep(10_000)
    """
    parent = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    with parent.stdout:
        decoder, other = map(int, parent.stdout.readline().split())
    parent.kill()
    parent.wait()
    try:
        wait_until(lambda: is_gone(decoder))
    finally:
        if other:
            os.kill(other, signal.SIGKILL)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_processes_of_its_own():
    decoder_pool.decode(GZIP, zlib.compress(bytes(50)), 50)
    before = decoder_pool._pool
    child = os.fork()
    if child == 0:
        is_new = decoder_pool._pool is not before
        values = decoder_pool.decode(GZIP, zlib.compress(b"x" * 50), 50)
        decoder_pool._pool.close()
        os._exit(0 if is_new and values == b"x" * 50 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert decoder_pool._pool is before
    assert decoder_pool.decode(GZIP, zlib.compress(bytes(50)), 50) == bytes(50)


def test_a_process_that_does_not_start_says_why(monkeypatch, tmp_path):
    pool = DecoderPool(1)
    (tmp_path / "numpy.py").write_text("raise ImportError('no numpy here')")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        with pytest.raises(
            ChildStartError, match="could not be started: ImportError: no numpy here"
        ) as raised:
            pool.run(request())
    assert "Traceback" in raised.value.details
    for executable in ("", str(tmp_path / "no python")):
        monkeypatch.setattr(sys, "executable", executable)
        with pytest.raises(ChildStartError, match=r"no Python|No such file"):
            pool.run(request())
    assert pool._all == set()
    assert pool._places.acquire(timeout=0)


@pytest.mark.parametrize(
    "answer", [b"", b"\x02\x08\0\0\0\0\0\0\0abc", b"\x63" + bytes(8), b"\x02" + b"\xff" * 8]
)
def test_an_answer_that_cannot_be_true_is_none(answer, tmp_path):
    (tmp_path / "answer").write_bytes(answer)
    with (tmp_path / "answer").open("rb", buffering=0) as file, pytest.raises(EndedError):
        read_answer(file.readinto, 100)


def test_endings_have_names():
    assert decoder_process._ending(-11) == "SIGSEGV"
    assert decoder_process._ending(-63) == "signal 63"
    assert decoder_process._ending(3) == "exit code 3"
