import pytest

from shadowzarr.formats.hdf5 import h5_filters_to_codecs as filters
from shadowzarr.formats.hdf5.h5_filters_to_codecs import Filter, NoCodecError, applied, codecs_for

GZIP, SHUFFLE, FLETCHER = Filter(1, (4,)), Filter(2, (8,)), Filter(3)


def names(*used: Filter) -> list[str]:
    return [codec["name"] for codec in codecs_for(used, 4).codecs]


def test_the_order_is_hdf5_s() -> None:
    assert names(SHUFFLE, GZIP, FLETCHER) == ["numcodecs.shuffle", "numcodecs.zlib", "numcodecs.fletcher32"]
    assert names(GZIP, SHUFFLE) == ["numcodecs.zlib", "numcodecs.shuffle"]


def test_configurations() -> None:
    shuffle, gzip = codecs_for((SHUFFLE, GZIP), 4).codecs
    assert shuffle["configuration"] == {"elementsize": 8}
    assert gzip["configuration"] == {"level": 4}
    assert codecs_for((Filter(2),), 4).codecs[0]["configuration"] == {"elementsize": 4}
    assert all("configuration" in codec for codec in codecs_for((FLETCHER,), 4).codecs)


@pytest.mark.parametrize(
    ("used", "is_proven"),
    [
        ((), True),
        ((GZIP,), True),
        ((SHUFFLE, GZIP, FLETCHER), True),
        ((GZIP, SHUFFLE), False),
        ((FLETCHER, GZIP), False),
        ((GZIP, GZIP), False),
        ((Filter(32015, (3,)),), False),
    ],
)
def test_only_the_usual_orders_are_trusted_without_a_look(used: tuple[Filter, ...], is_proven: bool) -> None:
    assert codecs_for(used, 4).is_proven is is_proven


@pytest.mark.parametrize("number", [5, 6, 32008, 32013, 32026, 99])
def test_filters_without_a_codec(number: int) -> None:
    with pytest.raises(NoCodecError, match="no Zarr codec undoes the filter"):
        codecs_for((GZIP, Filter(number)), 4)


def test_the_message_names_the_filter() -> None:
    with pytest.raises(NoCodecError, match="scale-offset"):
        codecs_for((Filter(6),), 4)
    with pytest.raises(NoCodecError, match="HDF5 filter 54321"):
        codecs_for((Filter(54321),), 4)


def test_plug_ins() -> None:
    blosc = codecs_for((Filter(32001, (2, 2, 4, 400, 5, 1, 1)),), 4).codecs[0]
    assert blosc["name"] == "blosc"
    assert blosc["configuration"] == {
        "typesize": 4,
        "cname": "lz4",
        "clevel": 5,
        "shuffle": "shuffle",
        "blocksize": 0,
    }
    assert codecs_for((Filter(32000),), 4).needs_extra
    assert codecs_for((Filter(32000),), 4).codecs[0]["configuration"] == {"header": False}
    szip = codecs_for((Filter(4, (141, 16, 32, 64)),), 4).codecs[0]["configuration"]
    assert szip == {
        "options_mask": 141,
        "pixels_per_block": 16,
        "bits_per_pixel": 32,
        "pixels_per_scanline": 64,
        "header": True,
    }
    assert not codecs_for((Filter(307, (9,)),), 4).needs_extra
    with pytest.raises(NoCodecError):  # snappy
        codecs_for((Filter(32001, (2, 2, 4, 400, 5, 1, 3)),), 4)


def test_the_mask_says_what_was_skipped() -> None:
    assert applied((SHUFFLE, GZIP, FLETCHER), 0b000) == (SHUFFLE, GZIP, FLETCHER)
    assert applied((SHUFFLE, GZIP, FLETCHER), 0b010) == (SHUFFLE, FLETCHER)
    assert applied((SHUFFLE, GZIP), 0b11) == ()


def test_what_is_rather_copied() -> None:
    assert filters.has_reliable_copy((SHUFFLE, Filter(32000)))
    assert not filters.has_reliable_copy((Filter(32004),))
    assert filters.can_undo((SHUFFLE, GZIP))
    assert not filters.can_undo((Filter(54321),))
