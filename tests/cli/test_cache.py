import contextlib
import io

from shadowzarr import LocalCache
from shadowzarr.access.source_identity import Source
from shadowzarr.cli import main
from shadowzarr.refs.byte_range import FileRange


def call(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(each) for each in arguments])
    return code, out.getvalue(), err.getvalue()


def test_info_and_clear(tmp_path):
    cache = LocalCache(tmp_path)
    assert call("cache", "info", "--folder", tmp_path)[0] == 1  # nothing is there yet
    cache.put_many(Source("https://example.org/a", 9, '"e"'), [FileRange(0, 1500)], [bytes(1500)])
    code, out, _ = call("cache", "info", "--folder", tmp_path)
    assert code == 0
    assert [" ".join(line.split()) for line in out.splitlines()][:4] == [
        f"path {cache.path}",
        "files 1",
        "ranges 1",
        "bytes 1.50 kB",
    ]
    code, out, _ = call("cache", "clear", "--folder", tmp_path)
    assert (code, out) == (0, f"{cache.path}: 1.50 kB dropped\n")
    assert cache.info().ranges == 0


def test_a_folder_that_is_no_cache(tmp_path):
    LocalCache(tmp_path).path.write_bytes(b"something else" * 100)
    code, _, err = call("cache", "info", "--folder", tmp_path)
    assert code == 1
    assert "cannot be used" in err


def test_an_action_that_is_not_known(tmp_path):
    assert call("cache", "delete", "--folder", tmp_path)[0] == 2


def test_a_folder_without_a_cache_is_no_empty_cache(tmp_path):
    for action in ("info", "clear"):
        code, out, err = call("cache", action, "--folder", tmp_path / "tpyo")
        assert (code, out) == (1, "")
        assert "there is no cache in" in err
        assert "tpyo" in err
    assert not (tmp_path / "tpyo").exists()
