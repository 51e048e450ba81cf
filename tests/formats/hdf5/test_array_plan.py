import numpy as np

from shadowzarr.builder import RfsBuilder
from shadowzarr.formats.hdf5.array_plan import ArrayPlan, GroupPlan, Slabs, add_plan, attributes_of
from shadowzarr.formats.hdf5.h5_chunk_utils import ChunkTable

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


def table(coordinates: list[list[int]]) -> ChunkTable:
    count = len(coordinates)
    numbers = np.arange(count, dtype=np.uint64)
    return ChunkTable(
        np.array(coordinates, np.int64),
        100 * numbers,
        np.full(count, 8, np.uint64),
        np.zeros(count, np.uint32),
    )


def plan(shape: tuple[int, ...], chunk_shape: tuple[int, ...], **parts: object) -> ArrayPlan:
    return ArrayPlan(shape, chunk_shape, "int16", [BYTES], 0, {"_DTYPE": "int16"}, **parts)  # type: ignore[arg-type]


def built(made: ArrayPlan | GroupPlan, threshold: int | None = 3) -> dict:
    builder = RfsBuilder()
    add_plan(builder, "a", made, url="/data/x.h5", chunk_index_threshold=threshold)
    return builder.build()


def test_few_chunks_are_listed() -> None:
    rfs = built(plan((8,), (4,), chunks=table([[0], [1]])))
    assert [rfs["refs"][key][1:] for key in ("a/c/0", "a/c/1")] == [[0, 8], [100, 8]]
    assert rfs["version"] == 1


def test_many_chunks_have_an_index() -> None:
    rfs = built(plan((20,), (4,), chunks=table([[0], [1], [2], [4]])))
    index = rfs["indexes"]["a"]["index"]
    assert index.tolist() == [[0, 8], [100, 8], [200, 8], [2**64 - 1] * 2, [300, 8]]
    assert "a/c/0" not in rfs["refs"]


def test_no_threshold_lists_all() -> None:
    rfs = built(plan((20,), (4,), chunks=table([[0], [1], [2], [4]])), None)
    assert "indexes" not in rfs
    assert "a/c/4" in rfs["refs"]


def test_an_index_of_nearly_nothing_is_not_made() -> None:
    rfs = built(plan((4 * 10**12,), (4,), chunks=table([[0], [1], [2], [10**12 - 1]])))
    assert "indexes" not in rfs
    assert f"a/c/{10**12 - 1}" in rfs["refs"]


def test_inline_chunks_stand_beside_the_index() -> None:
    rfs = built(plan((20,), (4,), chunks=table([[0], [1], [2], [4]]), inline={(3,): b"12345678"}))
    assert rfs["refs"]["a/c/3"] == "base64:MTIzNDU2Nzg="
    assert rfs["indexes"]["a"]["index"][3, 0] == 2**64 - 1


def test_one_slab_is_a_reference_and_many_are_a_rule() -> None:
    one = built(plan((8, 1), (8, 1), slabs=Slabs(96, 16, 1, 0)))
    assert one["refs"]["a/c/0/0"][1:] == [96, 16]
    many = built(plan((1, 8), (1, 3), slabs=Slabs(96, 6, 3, 1)))
    assert many["gen"][0]["key"] == "a/c/0/{{i}}"
    assert many["gen"][0]["offset"] == "{{96 + i * 6}}"


def test_a_group_of_arrays() -> None:
    rfs = built(
        GroupPlan({"values": plan((0,), (1,)), "offsets": plan((1,), (1,))}, {"_RAGGED": {"shape": [0]}})
    )
    assert {"a/zarr.json", "a/values/zarr.json", "a/offsets/zarr.json"} <= set(rfs["refs"])
    assert "_RAGGED" in rfs["refs"]["a/zarr.json"]


def test_the_convention_s_attributes_win() -> None:
    assert attributes_of(plan((1,), (1,)), {"unit": "V"}) == {"unit": "V", "_DTYPE": "int16"}
