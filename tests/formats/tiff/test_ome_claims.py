from pathlib import Path

import pytest

from shadowzarr.errors import DamagedSourceError
from shadowzarr.formats.tiff.ome_claims import check_ome, count_images, split, with_uuid

HEAD = '<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">'


def ome(inside: str, **sizes: object) -> str:
    given = {"SizeT": 2, "SizeZ": 3, "SizeC": 1, **sizes}
    attributes = " ".join(f'{name}="{value}"' for name, value in given.items())
    return f'{HEAD}<Image><Pixels DimensionOrder="XYZCT" {attributes}>{inside}</Pixels></Image></OME>'


def test_names_of_files() -> None:
    data = "".join(f'<TiffData IFD="0"><UUID FileName="{name}">id-{name}</UUID></TiffData>' for name in "aba")
    assert check_ome(ome(data)) == {"a": "id-a", "b": "id-b"}
    assert check_ome(ome(data).replace("<OME ", '<OME UUID="id-a" ', 1)) == {"b": "id-b"}
    assert check_ome(with_uuid(ome(data), "id-b")) == {"a": "id-a"}


def test_images_are_counted() -> None:
    assert count_images(ome("")) == 1
    assert count_images(ome("").replace("</OME>", "<Image/></OME>")) == 2


@pytest.mark.parametrize("text", ["", "no XML", f"{HEAD}<Image>"])
def test_what_is_no_xml_is_left_to_tifffile(text: str) -> None:
    assert check_ome(text) == {}


@pytest.mark.parametrize(
    ("xml", "claim"),
    [
        (ome("", SizeT=2**40), "planes"),
        (ome("", SizeT=2**20, SizeZ=2**10), "planes"),
        (ome('<TiffData IFD="0" PlaneCount="4611686018427387904"/>'), "PlaneCount"),
        (ome('<TiffData IFD="99999999"/>'), "IFD"),
        (f'{HEAD}<ModuloAlongT Start="0" End="1e12"/></OME>', "labels"),
        (f'{HEAD}<ModuloAlongT Start="0" End="1" Step="1e-300"/></OME>', "labels"),
        (f'{HEAD}<ModuloAlongT Start="nan" End="1"/></OME>', "labels"),
    ],
)
def test_claims_that_no_file_can_hold(xml: str, claim: str) -> None:
    with pytest.raises(DamagedSourceError, match=claim):
        check_ome(xml)


@pytest.mark.parametrize(
    "xml",
    [
        ome("", SizeT=-5),
        ome("", SizeT="many"),
        f'{HEAD}<ModuloAlongT Start="0"/></OME>',
        f'{HEAD}<ModuloAlongT Start="0" End="5" Step="0"/></OME>',
    ],
)
def test_claims_that_are_no_numbers(xml: str) -> None:
    with pytest.raises(DamagedSourceError, match="cannot be understood"):
        check_ome(xml)


def test_entities_that_expand_are_refused() -> None:
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 20}">' for n in range(1, 12))
    xml = f'<!DOCTYPE OME [<!ENTITY e0 "xxxxxxxxxx">{bomb}]>{HEAD}&e11;</OME>'
    assert check_ome(xml) == {}


def test_files_inside_the_folder_and_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    (folder / "sub").mkdir(parents=True)
    for name in ("set/a.tif", "set/sub/b.tif", "c.tif"):
        (tmp_path / name).write_bytes(b"x")
    inside, outside = split(folder, ("a.tif", "sub/b.tif", "../c.tif", "gone.tif", str(tmp_path / "c.tif")))
    assert [path.name for path in inside] == ["a.tif", "b.tif"]
    assert outside == ["../c.tif", str(tmp_path / "c.tif")]
