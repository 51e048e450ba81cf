import gc
import subprocess
import sys
import textwrap

import pytest

from shadowzarr.h5py_lock import _around_collection, collect_without_waiting

HANGS_AFTER = 300


def run(code, **options):
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=HANGS_AFTER, **options)


ANOTHER_THREAD_COLLECTS = """
    import gc, os, threading, weakref
    import h5py
    from h5py._objects import phil
    from shadowzarr.h5py_lock import collect_without_waiting

    class Cycle:
        def __init__(self, item):
            self.me, self.item = self, item

    collect_without_waiting()
    file = h5py.File("some", "w", driver="core", backing_store=False)
    gc.collect()
    gc.disable()
    found = weakref.ref(Cycle(file.create_group("x")))
    thread = threading.Thread(target=lambda: [gc.collect(n) for n in (0, 1, 2)], daemon=True)
    with phil:
        thread.start()
        thread.join(120)
        print("waits" if thread.is_alive() else "is done", flush=True)
        if thread.is_alive():
            os._exit(0)
        print("is there" if found() else "is freed")
    thread = threading.Thread(target=gc.collect)
    thread.start()
    thread.join()
    print("is there" if found() else "is freed")
    print(phil._is_owned())
"""


def test_a_collection_frees_nothing_of_h5py_s_while_another_thread_has_its_lock():
    done = run(ANOTHER_THREAD_COLLECTS, check=True)
    assert done.stdout.splitlines() == ["is done", "is there", "is freed", "False"]


def test_it_asks_once():
    before = gc.callbacks.count(_around_collection)
    collect_without_waiting()
    collect_without_waiting()
    assert gc.callbacks.count(_around_collection) == max(before, 1)


@pytest.mark.parametrize("module", ["shadowzarr.store", "shadowzarr.hdf5_filters.codec"])
def test_whoever_reads_asks(module):
    code = f"""
        import gc, {module}
        from shadowzarr.h5py_lock import _around_collection
        assert _around_collection in gc.callbacks
        gc.collect()
    """
    assert run(code, check=True).stderr == ""
