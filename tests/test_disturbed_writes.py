"""Writing references over others, killed or by several at once, while a reader looks on."""

import os
from pathlib import Path

import pytest
from other_processes import Meanwhile, Nursery, all_at_once, skip_without_fork
from work_to_kill import look_at_references, write_versions

KILLS = int(os.environ.get("KILLED_WRITES", "10"))


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@skip_without_fork()
@pytest.mark.parametrize("how", ["moments", "steps"])
@pytest.mark.parametrize("name", ["x", "x.json"])
def test_killed_and_called_again(tmp_path, name, how):
    data, target = tmp_path / "data", tmp_path / "killed" / name
    data.write_bytes(bytes(range(256)))
    (tmp_path / "killed").mkdir()
    with Nursery("work_to_kill:write_versions") as nursery:
        write_versions(lambda: None, str(tmp_path / "undisturbed" / name), str(data))
        expected = tree(tmp_path / "undisturbed")
        kills, killed = nursery.kills(how, KILLS, str(target), str(data)), 0
        with Meanwhile("work_to_kill:look_at_references", str(target)) as reader:
            for kill in kills:
                killed += nursery.run(str(target), str(data), **kill)[0] != 0
                look_at_references(str(target))
            nursery.run(str(target), str(data))
            assert tree(tmp_path / "killed") == expected
    print(f"{killed} of {len(kills)} killed; {reader.counts}")
    assert killed >= KILLS // 2
    assert reader.counts["whole"] > 0


@pytest.mark.parametrize("name", ["x", "x.json"])
def test_three_writers_at_once(tmp_path, name):
    """All of them write all versions, and the last one again and again."""
    data, target = tmp_path / "data", tmp_path / "several" / name
    data.write_bytes(bytes(range(256)))
    target.parent.mkdir()
    write_versions(lambda: None, str(tmp_path / "undisturbed" / name), str(data))
    with Meanwhile("work_to_kill:look_at_references", str(target)) as reader:
        all_at_once("work_to_kill:write_versions", *[(str(target), str(data))] * 3)
    print(reader.counts)
    assert reader.counts["whole"] > 0
    assert tree(tmp_path / "several") == tree(tmp_path / "undisturbed")
