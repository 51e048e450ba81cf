"""A run over many assets, of which some are damaged, from servers that now and then fail."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from work_to_kill import DANDISET, look_at_output

from shadowzarr.testing import Archive, ArchiveServer
from shadowzarr.testing.faults import Fault

ROOT = Path(__file__).resolve().parents[2]
ASSETS = int(os.environ.get("SOAK_ASSETS", "120"))
FEW = 4  # threads and descriptors that libraries open once and keep


@dataclass(kw_only=True, eq=False)
class NowAndThen(Fault):
    """A fault of every 200th request; four of them hit two of a hundred."""

    def count(self) -> bool:
        self._passed += 1
        if (self._passed + self.after) % 200:
            return False
        self.hits += 1
        return True


FAULTS = [{"status": 503}, {"drop": True}, {"short_by": 7}, {"reset_after": 100}]


@pytest.fixture
def archive(write_file, tmp_path):
    contents = Archive()
    contents.add_dandiset(DANDISET)
    for number in range(ASSETS):
        file = write_file(tmp_path / "files" / f"{number}.nwb", seed=number, chunks=1 + number % 7)
        if number % 50 == 49:
            file.write_bytes(file.read_bytes()[:3000])
        contents.add_asset(DANDISET, f"sub-{number % 40}/{number}.nwb", file)
    with ArchiveServer(contents) as server:
        yield server


@pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="this system does not tell what processes hold"
)
@pytest.mark.timeout(300 + 3 * ASSETS)
def test_nothing_grows_and_nothing_is_left(archive, tmp_path):
    """The child processes that read files live as long as the run, and are in the count."""
    output, temporary = tmp_path / "out", tmp_path / "temporary"
    temporary.mkdir()
    faults = [
        server.faults.add(NowAndThen(after=50 * number, **fault))
        for server in (archive.store, archive.api)
        for number, fault in enumerate(FAULTS)
        if server is archive.store or "short_by" not in fault
    ]
    places = f"{ROOT / 'tests' / 'support'}{os.pathsep}{ROOT}"
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "support" / "soak.py", archive.api_url, output, str(ASSETS)],
        env={**os.environ, "PYTHONPATH": places, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    print(done.stdout)
    before, *during, after = map(json.loads, done.stdout.splitlines())
    at_tenth, at_end = during[1], during[-1]
    requests = len(archive.store.log) + len(archive.api.log)
    print(f"{sum(fault.hits for fault in faults)} faults in {requests} requests")
    damaged = ASSETS // 50
    assert after["outcomes"] == {"indexed": ASSETS - damaged, "failed": damaged}
    for memory in ("memory", "memory of children"):
        assert at_end[memory] <= 1.3 * at_tenth[memory]
    for number in ("open", "open of children", "threads", "children"):
        assert at_end[number] <= at_tenth[number] + FEW
    assert after["children"] == 0
    assert after["open"] <= before["open"] + FEW
    assert after["threads"] <= before["threads"] + FEW
    assert list(temporary.iterdir()) == []
    assert sorted(path.name for path in (output / ".shadowzarr").iterdir()) == ["catalog.sqlite", "lock"]
    assert look_at_output(str(output))["sets"] == ASSETS - damaged
