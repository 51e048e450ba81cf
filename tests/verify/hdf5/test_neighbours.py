from pathlib import Path

import pytest

from shadowzarr.verify.hdf5.neighbours import MissingNeighbourError, Neighbours, NotToBeReadError

FIRST, HOLDER = "http://host/data/main.h5", "http://host/data/a/x.h5"


def test_local_files(tmp_path, monkeypatch):
    for name in ("in/main.h5", "in/sub/b.h5", "out.h5", "in/raw/c.h5"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "in/sly.h5").symlink_to(tmp_path / "out.h5")
    monkeypatch.chdir(tmp_path / "in/raw")
    main, deep = str(tmp_path / "in/main.h5"), str(tmp_path / "in/sub/b.h5")
    files = Neighbours(main, allow_external=False)
    assert files.locate("sub/b.h5", main) == deep
    assert files.locate("../main.h5", deep) == main
    assert files.locate("/lab/b.h5", deep) == deep
    with pytest.raises(MissingNeighbourError):
        files.locate("/lab/b.h5", deep, by_last_part=False)
    with pytest.raises(MissingNeighbourError):
        files.locate("c.h5", main)  # it is in the working folder
    for name in ("../out.h5", "sly.h5", "/etc/hostname"):
        with pytest.raises(NotToBeReadError, match="outside"):
            files.locate(name, main)
    assert Path(Neighbours(main, allow_external=True).locate("../out.h5", main)) == tmp_path / "out.h5"


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("b.h5", "http://host/data/a/b.h5"),
        ("../b c.h5", "http://host/data/b%20c.h5"),
        ("/lab/b.h5", "http://host/data/a/b.h5"),
        ("http://host/data/b.h5", "http://host/data/b.h5"),
    ],
)
def test_urls(name, url):
    assert Neighbours(FIRST, allow_external=False).locate(name, HOLDER) == url


@pytest.mark.parametrize("name", ["../../b.h5", "http://other/data/b.h5", "http://host/data/../b.h5"])
def test_urls_outside(name):
    with pytest.raises(NotToBeReadError, match="outside"):
        Neighbours(FIRST, allow_external=False).locate(name, HOLDER)
    assert Neighbours(FIRST, allow_external=True).locate(name, HOLDER)


def test_s3_and_what_has_no_folder():
    files = Neighbours("s3://bucket/data/main.h5", allow_external=False)
    assert files.locate("b.h5", "s3://bucket/data/main.h5") == "s3://bucket/data/b.h5"
    with pytest.raises(NotToBeReadError):
        files.locate("../b.h5", "s3://bucket/data/main.h5")
    with pytest.raises(NotToBeReadError, match="local one"):
        Neighbours(FIRST, allow_external=True).locate("/etc/hostname", FIRST, by_last_part=False)
    asset = "https://api.dandiarchive.org/api/assets/5a9cc6f1-0000-0000-0000-000000000000/download/"
    with pytest.raises(NotToBeReadError, match="archive"):
        Neighbours(asset, allow_external=True).locate("b.nwb", asset)
