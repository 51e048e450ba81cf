from pathlib import Path

import pytest

from shadowzarr.access.archives import register_archive
from shadowzarr.formats.hdf5.other_files import MissingFileError, Neighbourhood
from shadowzarr.formats.hdf5.reasons import CannotRepresentError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("main.h5", "inner/deep.h5", "inner/below/b.h5"):
        place = tmp_path / "data" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"x")
    (tmp_path / "outside.h5").write_bytes(b"x")
    return tmp_path / "data"


def locate(folder: Path, name: str, holder: str = "main.h5", **options: bool) -> str:
    allow = options.pop("allow_external", False)
    return Neighbourhood(str(folder / "main.h5"), allow).locate(name, str(folder / holder), **options)


def test_names_count_from_the_holder_and_stay_in_the_folder_of_the_first_file(folder: Path) -> None:
    assert locate(folder, "inner/deep.h5") == str(folder / "inner/deep.h5")
    assert locate(folder, "below/b.h5", "inner/deep.h5") == str(folder / "inner/below/b.h5")
    assert locate(folder, "../main.h5", "inner/deep.h5") == str(folder / "main.h5")
    for name in ("../outside.h5", str(folder.parent / "outside.h5"), "/etc/hostname"):
        with pytest.raises(CannotRepresentError, match="outside"):
            locate(folder, name)
    assert locate(folder, "../outside.h5", allow_external=True) == str(folder.parent / "outside.h5")


def test_an_absolute_name_that_leads_nowhere_is_looked_for_beside_the_holder(folder: Path) -> None:
    assert locate(folder, "/not/there/deep.h5", "inner/deep.h5") == str(folder / "inner/deep.h5")
    with pytest.raises(MissingFileError):
        locate(folder, "/not/there/deep.h5", "inner/deep.h5", by_last_part=False)


def test_the_working_folder_plays_no_part(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "inner")
    with pytest.raises(MissingFileError, match=r"deep\.h5 is not there"):
        locate(folder, "deep.h5")


def test_symbolic_links_lead_nowhere_else(folder: Path) -> None:
    (folder / "sly.h5").symlink_to("/etc/hostname")
    (folder / "good.h5").symlink_to(folder / "inner/deep.h5")
    with pytest.raises(CannotRepresentError, match="outside"):
        locate(folder, "sly.h5")
    assert locate(folder, "good.h5") == str(folder / "good.h5")
    with pytest.raises(CannotRepresentError, match="directory"):
        locate(folder, "inner")


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("b.h5", "http://host/data/a/b.h5"),
        ("x y#1?.h5", "http://host/data/a/x%20y%231%3F.h5"),
        ("/lab/disk/b.h5", "http://host/data/a/b.h5"),
        ("../c.h5", "http://host/data/c.h5"),
        ("http://host/data/d.h5", "http://host/data/d.h5"),
    ],
)
def test_urls(name: str, url: str) -> None:
    assert Neighbourhood("http://host/data/main.h5").locate(name, "http://host/data/a/x.h5?q=1") == url


@pytest.mark.parametrize(
    "name",
    [
        "../../c.h5",
        "http://other/data/d.h5",
        "https://host/data/d.h5",
        "http://host/data/../e.h5",
        "s3://data/x",
    ],
)
def test_urls_outside_the_folder(name: str) -> None:
    first, holder = "http://host/data/main.h5", "http://host/data/a/x.h5"
    with pytest.raises(CannotRepresentError, match="outside"):
        Neighbourhood(first).locate(name, holder)
    assert Neighbourhood(first, True).locate(name, holder).startswith(("http", "s3"))


def test_a_raw_file_of_a_url_is_never_a_local_one() -> None:
    with pytest.raises(CannotRepresentError, match="local file"):
        Neighbourhood("http://host/m.h5", True).locate(
            "/etc/hostname", "http://host/m.h5", by_last_part=False
        )


def test_assets_of_an_archive_have_no_folder() -> None:
    register_archive("http://127.0.0.1:9/api")
    asset = "http://127.0.0.1:9/api/assets/5a9cc6f1-0000-0000-0000-000000000000/download/"
    with pytest.raises(CannotRepresentError, match="has no folder"):
        Neighbourhood(asset).locate("other.nwb", asset)
