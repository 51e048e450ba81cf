"""Commands that take references: those at a URL name files of this machine only when that is allowed."""

from pathlib import Path

import numpy as np
import pytest

from shadowzarr import RfsBuilder, write_rfs
from shadowzarr.cli import main
from shadowzarr.testing.range_server import RangeServer


@pytest.mark.parametrize(
    "command",
    [
        ["info", "URL"],
        ["materialize", "URL", "OUT"],
        ["to-hdf5", "URL", "OUT"],
        ["icechunk", "URL", "OUT"],
        ["convert", "URL", "OUT", "--from", "rfs"],
    ],
    ids=lambda command: command[0],
)
def test_files_of_this_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    if command[0] == "icechunk":
        pytest.importorskip("icechunk", reason="icechunk is not installed")
    data = tmp_path / "data.bin"
    data.write_bytes(np.arange(1000, dtype="<i2").tobytes())
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array("a", shape=[1000], data_type="int16", chunk_shape=[500])
    layout = {"shape": [1000], "chunk_shape": [500], "start": 0, "itemsize": 2}
    builder.add_contiguous_chunks("a", url=str(data), **layout)
    builder.add_source(str(data), 2000)
    write_rfs(builder.build(), tmp_path / "web" / "refs.json")
    out = tmp_path / "out"
    with RangeServer(tmp_path / "web") as server:
        words = {"URL": server.url("refs.json"), "OUT": str(out)}
        call = [words.get(word, word) for word in command]
        assert main(call) == 1
        assert "--allow-local-files" in capsys.readouterr().err
        assert not out.exists()
        assert main([*call, "--allow-local-files"]) == 0


def test_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import h5py

    from shadowzarr import generate_rfs

    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"] = np.arange(1000)
    write_rfs(generate_rfs(tmp_path / "x.h5"), tmp_path / "web" / "refs.json")
    with RangeServer(tmp_path / "web") as server:
        assert main(["verify", server.url("refs.json")]) == 1
        assert "--allow-local-files" in capsys.readouterr().err
        assert main(["verify", server.url("refs.json"), "--allow-local-files"]) == 0
