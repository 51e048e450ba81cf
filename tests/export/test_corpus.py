"""Real files there and back: to_hdf5 gives a file in which the comparer finds no difference.

Those where it does are listed here, each with its reason. The number of equal files may only grow.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).with_name("round_trip.py")
SUFFIXES = {".h5", ".hdf5", ".nwb", ".mat", ".nc"}

ELSEWHERE = "its values are in other files; they are written into the new one, or are not there"
NO_PLUGIN = "a filter that is not installed: h5py cannot read it, so only type and space can be had"
USER_LINK = "a user-defined link: only the program that wrote it can make one"

CORPUS = {
    "hdf5/hdf5-json/h5ex_d_extern.h5": ELSEWHERE,
    "hdf5/hdf5lib/1_vds.h5": ELSEWHERE,
    "hdf5/hdf5lib/4_vds.h5": ELSEWHERE,
    "hdf5/hdf5lib/h5ex_d_bitgroom.h5": NO_PLUGIN,
    "hdf5/hdf5lib/tall.h5": USER_LINK,
    "hdf5/hdf5lib/tfilters.h5": NO_PLUGIN,
    "hdf5/hdf5lib/tudfilter.h5": NO_PLUGIN,
    "hdf5/hdf5lib/twithub513.h5": USER_LINK,
    "hdf5/plugins/h5ex_d_granularbr.h5": NO_PLUGIN,
    "hdf5/plugins/h5ex_d_jpeg.h5": NO_PLUGIN,
    "hdf5/plugins/h5ex_d_sz.h5": "a filter whose plug-in takes other parameters now; written without it",
    "hdf5/pytables/Tables_lzo1.h5": NO_PLUGIN,
}
MADE = {
    "hdf5/external_storage.h5": ELSEWHERE,
    "hdf5/virtual.h5": ELSEWHERE,
}


def files(folder, kinds):
    return sorted(
        path
        for kind in kinds
        for path in (folder / kind).rglob("*")
        if path.suffix in SUFFIXES and path.is_file()
    )


def round_trips(paths, folder):
    """Outcome by path; a file that ends the process costs only itself."""
    outcomes = {}
    left = list(paths)
    while left:
        done = subprocess.run(
            [sys.executable, str(RUNNER), str(folder)],
            input="\n".join(map(str, left)),
            capture_output=True,
            text=True,
            check=False,
        )
        lines = done.stdout.splitlines()
        outcomes |= {path: json.loads(line) for path, line in zip(left, lines, strict=False)}
        if len(lines) < len(left):
            outcomes[left[len(lines)]] = {
                "failed": f"the process ended with {done.returncode}: {done.stderr[-500:]}"
            }
        left = left[len(lines) + 1 :]
    return outcomes


def table(outcomes, root, reasons):
    """What differs, as lines for people, and the names."""
    lines, different = [], set()
    for path, outcome in outcomes.items():
        name = path.relative_to(root).as_posix()
        found = outcome.get("differences")
        if "refused" in outcome or found == []:
            continue
        different.add(name)
        first = outcome["failed"] if found is None else f"{len(found)} differences, the first {found[0]}"
        lines.append(f"{name}: {reasons.get(name, 'NO REASON IS KNOWN')}\n    {first}")
    return lines, different


def check(outcomes, root, reasons, *, equal_before):
    readable = {path: outcome for path, outcome in outcomes.items() if "refused" not in outcome}
    lines, different = table(outcomes, root, reasons)
    equal = len(readable) - len(different)
    print(f"\n{equal} of {len(readable)} files equal; the rest:\n" + "\n".join(lines))
    assert different <= set(reasons), sorted(different - set(reasons))
    assert equal >= equal_before
    assert equal >= 0.9 * len(readable)


@pytest.mark.timeout(1800)
def test_files_of_the_corpus_come_back(shared, tmp_path):
    corpus = shared / "corpus"
    outcomes = round_trips(files(corpus, ("hdf5", "nwb", "mat73", "netcdf4")), tmp_path)
    check(outcomes, corpus, CORPUS, equal_before=135)
    ordinary = {p: o for p, o in outcomes.items() if p.suffix == ".nwb"}
    assert len(ordinary) == 15
    for path, outcome in ordinary.items():
        assert outcome["section_bytes"] < 5000, path
        assert not outcome["not_described"], path


@pytest.mark.timeout(1800)
def test_made_files_come_back(made_files, tmp_path):
    outcomes = round_trips(files(made_files, ("hdf5", "nwb", "netcdf4")), tmp_path)
    check(outcomes, made_files, MADE, equal_before=42)
