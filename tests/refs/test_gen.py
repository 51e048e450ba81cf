import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.errors import InvalidReferencesError
from shadowzarr.refs import gen
from shadowzarr.refs.byte_range import ChunkLocation

SLABS = {
    "key": "acquisition/timestamps/c/{{i}}",
    "url": "{{u0}}",
    "offset": "{{2048 + i * 4194304}}",
    "length": "4194304",
    "dimensions": {"i": {"stop": 58}},
}
TEMPLATES = {"u0": "https://example.org/a.nwb"}


def entry(**changes):
    return {**SLABS, **changes}


def test_location_of_one_chunk():
    assert gen.location_at(SLABS, TEMPLATES, (57,)) == ChunkLocation(
        "https://example.org/a.nwb", 2048 + 57 * 4194304, 4194304
    )


@pytest.mark.parametrize("coordinates", [(58,), (0, 0), ()])
def test_chunks_outside_the_rule(coordinates):
    assert gen.location_at(SLABS, TEMPLATES, coordinates) is None


def test_start_step_and_fixed_coordinates():
    rule = entry(key="a/c/{{i}}/7", offset="{{i}}", dimensions={"i": {"start": 2, "stop": 9, "step": 3}})
    given_keys = {key: place.offset for key, place in gen.expand(rule, TEMPLATES)}
    assert given_keys == {"a/c/2/7": 2, "a/c/5/7": 5, "a/c/8/7": 8}
    assert gen.location_at(rule, TEMPLATES, (5, 7)).offset == 5
    assert gen.location_at(rule, TEMPLATES, (5, 8)) is None
    assert gen.location_at(rule, TEMPLATES, (4, 7)) is None
    assert gen.count(rule) == 3


def test_two_dimensions_the_last_fastest():
    rule = entry(
        key="c/{{i}}/{{j}}",
        offset="{{(i * 3 + j) * 10}}",
        length="10",
        dimensions={"i": {"stop": 2}, "j": {"stop": 3}},
    )
    assert [place.offset for _, place in gen.expand(rule, TEMPLATES)] == [0, 10, 20, 30, 40, 50]
    assert gen.array_path(rule) == ""


def test_a_rule_without_ranges_gives_whole_files():
    rule = {"key": "a/c/{{i}}", "url": "{{u0}}", "dimensions": {"i": {"stop": 1}}}
    assert gen.location_at(rule, TEMPLATES, (0,)) == ChunkLocation("https://example.org/a.nwb")


def test_a_path_that_holds_braces_or_chunk_like_parts_is_taken_literally():
    rule = entry(key="{{u0}}/c/5/c/{{i}}")
    assert gen.array_path(rule) == "{{u0}}/c/5"
    assert gen.location_at(rule, TEMPLATES, (1,)).offset == 2048 + 4194304


@pytest.mark.parametrize(
    "offset",
    [
        "{{__import__('os').system('true')}}",
        "{{i.real}}",
        "{{i ** 99}}",
        "{{i / 2}}",
        "{{i // 0}}",
        "{{k}}",
        "{{True}}",
        "{{'a'}}",
        "{{1 +}}",
        "{{" + "(" * 300 + "1" + ")" * 300 + "}}",
        "{{" + "1+" * 300 + "1}}",
        "{{-1}}",
    ],
)
def test_what_is_no_arithmetic_is_refused(offset):
    with pytest.raises(InvalidReferencesError):
        gen.location_at(entry(offset=offset), TEMPLATES, (0,))


@pytest.mark.parametrize("key", ["a/x/{{i}}", "a/c/{{i + 1}}", "a/c/x{{i}}"])
def test_keys_that_cannot_be_solved_are_refused(key):
    with pytest.raises(InvalidReferencesError, match="gen entry"):
        gen.location_at(entry(key=key), TEMPLATES, (0,))


def test_a_dimension_that_the_key_does_not_use_is_refused():
    with pytest.raises(InvalidReferencesError, match="'j'"):
        gen.location_at(entry(dimensions={"i": {"stop": 2}, "j": {"stop": 2}}), TEMPLATES, (0,))


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.integers(1, 50))
def test_one_chunk_is_what_expansion_gives(start, stride, stop):
    rule = entry(offset=f"{{{{{start} + i * {stride}}}}}", dimensions={"i": {"stop": stop}})
    for key, place in gen.expand(rule, TEMPLATES):
        assert gen.location_at(rule, TEMPLATES, (int(key.rsplit("/", 1)[1]),)) == place


@pytest.mark.parametrize(
    ("start", "stop", "step", "expected"),
    [(0, 58, 1, 58), (5, 5, 1, 0), (9, 5, 1, 0), (2, 9, 3, 3), (0, 10**30, 7, 10**30 // 7 + 1)],
)
def test_chunks_are_counted_by_arithmetic(start, stop, step, expected):
    rule = entry(dimensions={"i": {"start": start, "stop": stop, "step": step}})
    assert gen.count(rule) == expected
    square = {"i": rule["dimensions"]["i"], "j": rule["dimensions"]["i"]}
    assert gen.count(entry(key="a/c/{{i}}/{{j}}", dimensions=square)) == expected**2


@pytest.mark.parametrize(
    ("key", "dimensions"),
    [
        ("a/c/{{i}}", {"i": {"stop": 10**18}}),
        ("a/c/{{i}}/{{j}}", {"i": {"stop": 10**5}, "j": {"stop": 10**5}}),
    ],
)
def test_a_rule_for_more_chunks_than_can_be_listed_is_not_expanded(key, dimensions):
    rule = entry(key=key, length="1", offset="0", dimensions=dimensions)
    with pytest.raises(InvalidReferencesError, match=r"stands for 1[0,]+ chunks; no more than 16,777,216"):
        next(gen.expand(rule, TEMPLATES))
    assert gen.location_at(rule, TEMPLATES, (9,) * len(dimensions)) is not None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"key": "a/c/{{k}}"}, "its key does not use 'i'"),
        ({"key": "a/c/{{i}}/{{k}}"}, "its key uses 'k', which is none"),
        ({"offset": "{{k * 2}}"}, "only integers, i"),
        ({"offset": "{{i - 1}}"}, "gives offset -1"),
        ({"offset": "{{10 - i}}"}, "gives offset -47"),
        ({"length": "-1"}, "gives offset 2048, length -1"),
        ({"offset": "{{i * 9223372036854775807}}"}, "gives offset 525"),
        ({"offset": str(2**63 - 10)}, "gives offset 9223372036854775798, length 4194304"),
        ({"dimensions": {"i": {"stop": 10**18}}}, "gives offset 41943"),
    ],
)
def test_rules_are_checked_at_both_ends(changes, message):
    with pytest.raises(InvalidReferencesError, match=message):
        gen.check(entry(**changes))


def test_good_rules_pass_the_check():
    gen.check(SLABS)
    gen.check(entry(dimensions={"i": {"stop": 0}}))
    gen.check(entry(offset="{{57 - i}}", dimensions={"i": {"start": 7, "stop": 60, "step": 25}}))
    gen.check({"key": "a/c/{{i}}", "url": "{{u0}}", "dimensions": {"i": {"stop": 10**18}}})
    assert gen.ndim(SLABS) == 1


@pytest.mark.parametrize(
    "rule",
    [
        entry(key="a/c/{{i}}/3/{{j}}", offset="{{5 + i * 1000 + j % 7 + j // 2 * 9}}", dimensions={
            "i": {"stop": 5}, "j": {"start": 2, "stop": 40, "step": 3}}),
        entry(key="c/{{i}}/{{i}}", offset="7", length="{{1 + i}}"),
        entry(key="a/c", offset="5", dimensions={}),
        entry(dimensions={"i": {"stop": 0}}),
        entry(offset="{{(i * 9223372036854775807 * 9) // 9223372036854775807}}"),
    ],
)  # fmt: skip
def test_a_table_is_what_expanding_gives(rule):
    coordinates, offsets, lengths = gen.table(rule)
    listed = list(gen.expand(rule, TEMPLATES))
    path = gen.array_path(rule)
    head = f"{path}/c" if path else "c"
    assert ["/".join([head, *map(str, row)]) for row in coordinates.tolist()] == [key for key, _ in listed]
    places = zip(offsets.tolist(), lengths.tolist(), strict=True)
    assert list(places) == [(place.offset, place.length) for _, place in listed]


def test_a_table_of_whole_files():
    rule = {name: part for name, part in SLABS.items() if name not in ("offset", "length")}
    coordinates, offsets, lengths = gen.table(rule)
    assert (coordinates.shape, offsets, lengths) == ((58, 1), None, None)


@pytest.mark.parametrize(
    "changes",
    [{"offset": "{{3 - i}}"}, {"offset": "{{5 // (i * 0)}}"}, {"dimensions": {"i": {"stop": 2**25}}}],
)
def test_a_table_refuses_what_expanding_refuses(changes):
    with pytest.raises(InvalidReferencesError) as one:
        list(gen.expand(entry(**changes), TEMPLATES))
    with pytest.raises(InvalidReferencesError) as other:
        gen.table(entry(**changes))
    assert str(one.value) == str(other.value)
