"""Conversions that are killed, each followed by one that is not, while a reader looks on."""

import os

import pytest
from conversion_to_kill import held, write_version
from other_processes import Meanwhile, Nursery, moments, skip_without_fork

KILLS = int(os.environ.get("KILLED_CONVERSIONS", "2"))
FIRST, LAST = 4, 24
"""Steps: those that give names, and those to the end of the run. Between them staging is emptied."""
FORMS = ("nwb-hdf5", "nwb-zarr")


@skip_without_fork()
@pytest.mark.timeout(300 + 20 * KILLS)
@pytest.mark.parametrize("form", FORMS)
def test_killed_while_publishing(tmp_path, form):
    """What is there then is what an undisturbed run leaves, of the other version."""
    output = str(tmp_path / "output")
    for version in (1, 2):
        write_version(tmp_path, version)
    with Nursery("conversion_to_kill:publish") as nursery:

        def run(version, *, step="0", **how):
            return nursery.run(str(tmp_path), str(version), output, form, step, **how)

        for version in (1, 2, 1):  # in the last one nothing needs to be converted
            _, _, steps = run(version, kill_before=0)
        undisturbed, versions = held(tmp_path / "output")
        assert versions == {1}
        kills = [{"step": str(step)} for step in range(1, FIRST + 1)]
        kills += [{"kill_before": steps - int(part * LAST)} for part in moments(KILLS, form)]
        with Meanwhile("conversion_to_kill:look_at_converted", output) as reader:
            for number, kill in enumerate(kills):
                version = 2 - number % 2
                assert run(version, **kill)[0] != 0
                run(version)
                assert held(tmp_path / "output") == (undisturbed, {version})
    print(f"{len(kills)} kills; {reader.counts}")
    assert min(reader.counts[what] for what in ("stores", "references", "records")) > 0


@skip_without_fork()
@pytest.mark.skipif("KILLED_CONVERSIONS" not in os.environ, reason="KILLED_CONVERSIONS is not set")
@pytest.mark.timeout(300 + 60 * KILLS)
@pytest.mark.parametrize("form", FORMS)
def test_killed_at_random_moments(tmp_path, form):
    """The same with all that comes before publishing."""
    killed = 0
    with Nursery("conversion_to_kill:convert") as nursery:

        def run(version, **how):
            write_version(tmp_path, version)
            return nursery.run(str(tmp_path), str(version), str(tmp_path / "output"), form, **how)

        _, seconds, _ = run(1)
        undisturbed, _ = held(tmp_path / "output")
        with Meanwhile("conversion_to_kill:look_at_converted", str(tmp_path / "output")) as reader:
            for version, part in enumerate(moments(KILLS, form), start=2):
                killed += run(version, kill_after=part * seconds)[0] != 0
                run(version)
                assert held(tmp_path / "output") == (undisturbed, {version})
    print(f"{killed} of {KILLS} killed; {reader.counts}")
    assert killed >= KILLS // 2
    assert min(reader.counts[what] for what in ("stores", "references", "records")) > 0
