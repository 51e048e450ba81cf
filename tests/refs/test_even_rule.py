import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.errors import InvalidReferencesError
from shadowzarr.refs import gen
from shadowzarr.refs.even_rule import EvenRule, even_rule

RULE = {
    "key": "a/c/{{i}}/0",
    "url": "u",
    "offset": "{{2048 + i * 64}}",
    "length": "64",
    "dimensions": {"i": {"stop": 58}},
}


def test_the_rule_that_is_usually_written():
    assert even_rule(RULE) == EvenRule(2048, 64, (range(58), range(1)), (64, 0))


@pytest.mark.parametrize(
    "changes",
    [
        {"offset": "{{i // 2}}"},
        {"offset": "{{i * i}}"},
        {"offset": "{{7 % i}}"},
        {"length": "{{64 + i}}"},
        {"dimensions": {"i": {"stop": 0}}},
        {"key": "a/c/{{i}}/{{i}}"},
        {"dimensions": {"i": {"stop": 5}, "j": {"stop": 2}}},
    ],
    ids=str,
)
def test_other_rules(changes):
    assert even_rule({**RULE, **changes}) is None


def test_whole_files():
    assert even_rule({name: RULE[name] for name in ("key", "url", "dimensions")}) is None


def test_what_is_no_rule():
    with pytest.raises(InvalidReferencesError):
        even_rule({**RULE, "offset": "{{i +}}"})


def test_a_length_of_nothing_but_zeros_of_a_name():
    assert even_rule({**RULE, "length": "{{64 + 0 * i}}"}).length == 64


terms = st.recursive(
    st.integers(0, 20).map(str) | st.sampled_from(["i", "j"]),
    lambda inner: (
        st.builds(lambda a, op, b: f"({a} {op} {b})", inner, st.sampled_from("+-*"), inner)
        | inner.map("-{}".format)
    ),
    max_leaves=6,
)


@given(terms, st.integers(0, 3), st.integers(1, 4), st.integers(1, 3))
def test_an_even_rule_gives_what_the_rule_gives(offset, start, count, step):
    rule = {
        "key": "a/c/{{j}}/4/{{i}}",
        "url": "u",
        "offset": f"{{{{10000000 + {offset}}}}}",
        "length": "7",
        "dimensions": {"i": {"start": start, "stop": start + count * step, "step": step}, "j": {"stop": 2}},
    }
    found = even_rule(rule)
    if found is None:
        assert "*" in offset
        return
    numbers = [range(len(each)) for each in found.coordinates]
    for steps in itertools.product(*numbers):
        coordinates = tuple(each[n] for each, n in zip(found.coordinates, steps, strict=True))
        place = gen.location_at(rule, {}, coordinates)
        assert place.offset == found.start + sum(n * by for n, by in zip(steps, found.strides, strict=True))
        assert place.length == found.length
