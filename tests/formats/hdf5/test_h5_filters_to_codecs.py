import pytest

from shadowzarr.formats.hdf5 import h5_filters_to_codecs as filters
from shadowzarr.formats.hdf5.h5_filters_to_codecs import Filter, NoCodecError, applied, codecs_for

GZIP, SHUFFLE, FLETCHER = Filter(1, (4,)), Filter(2, (8,)), Filter(3)


def names(*used: Filter) -> list[str]:
    return [codec["name"] for codec in codecs_for(used, 4).codecs]


def test_the_order_is_hdf5_s() -> None:
    assert names(SHUFFLE, GZIP, FLETCHER) == ["numcodecs.shuffle", "numcodecs.zlib", "numcodecs.fletcher32"]
    assert names(FLETCHER, GZIP) == ["numcodecs.fletcher32", "numcodecs.zlib"]
    assert codecs_for((GZIP, SHUFFLE), 4) is None  # what gzip makes is no row of elements


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
        ((FLETCHER, GZIP), False),
        ((GZIP, GZIP), False),
        ((Filter(32015, (3,)),), False),
    ],
)
def test_only_the_usual_orders_are_trusted_without_a_look(used: tuple[Filter, ...], is_proven: bool) -> None:
    assert codecs_for(used, 4).is_proven is is_proven


@pytest.mark.parametrize("number", [4, 5, 6, 32000, 32008, 32013, 32026, 99])
def test_filters_that_others_do_not_know(number: int) -> None:
    assert codecs_for((GZIP, Filter(number)), 4) is None


def test_our_codec_takes_the_whole_pipeline() -> None:
    (codec,) = filters.own_codec((SHUFFLE, Filter(32000, (4, 261, 64)))).codecs
    assert codec == {
        "name": "shadowzarr.hdf5_filters",
        "configuration": {
            "filters": [
                {"id": 2, "name": "shuffle", "cd_values": [8]},
                {"id": 32000, "name": "lzf", "cd_values": [4, 261, 64]},
            ]
        },
    }


def test_the_message_names_the_filter() -> None:
    with pytest.raises(NoCodecError, match=r"HDF5 filter 54321 \(54321\) is missing; .*HDF5_PLUGIN_PATH"):
        filters.own_codec((GZIP, Filter(54321)))


def test_idle_filters_are_dropped() -> None:
    idle = Filter(5, (8, 1, 100, 1, 4, 0, 32, 0))
    assert filters.without_idle((idle, GZIP)) == (GZIP,)
    assert filters.without_idle((Filter(5, (8, 0, 100, 1, 4, 0, 17, 0)),)) != ()


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
    assert codecs_for((Filter(32001, (2, 2, 4, 400, 5, 1, 3)),), 4) is None  # snappy


def test_the_mask_says_what_was_skipped() -> None:
    assert applied((SHUFFLE, GZIP, FLETCHER), 0b000) == (SHUFFLE, GZIP, FLETCHER)
    assert applied((SHUFFLE, GZIP, FLETCHER), 0b010) == (SHUFFLE, FLETCHER)
    assert applied((SHUFFLE, GZIP), 0b11) == ()


def test_what_hdf5_here_can_undo() -> None:
    assert filters.can_undo((SHUFFLE, GZIP, Filter(4), Filter(5), Filter(6), Filter(32000)))
    assert not filters.can_undo((Filter(54321),))


def test_the_table_has_each_filter_once() -> None:
    numbers = [row.filter for row in filters.HOW]
    assert len(set(numbers)) == len(numbers)
    assert set(filters._CODECS) == {row.filter for row in filters.HOW if row.codec != filters._OWN}
