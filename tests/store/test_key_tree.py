from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.store.key_tree import KeyTree

KEYS = ["zarr.json", "b/zarr.json", "a/x/zarr.json", "a/zarr.json", "a/x/c/0/1", "a/x/c/0/0"]


def test_children_are_in_the_order_of_the_keys():
    tree = KeyTree(KEYS)
    assert list(tree.children("")) == ["zarr.json", "b", "a"]
    assert list(tree.children("a")) == ["x", "zarr.json"]
    assert list(tree.children("a/x/c/0")) == ["1", "0"]
    assert list(tree.children("nothing")) == []


def test_keys_below_a_folder():
    assert sorted(KeyTree(KEYS).keys("a/x")) == ["a/x/c/0/0", "a/x/c/0/1", "a/x/zarr.json"]
    assert sorted(KeyTree(KEYS).keys("")) == sorted(KEYS)


parts = st.lists(st.sampled_from("ab"), min_size=1, max_size=4)


@given(st.lists(parts))
def test_every_key_is_found_in_its_folder(keys):
    texts = {"/".join([*key, "value"]) for key in keys}
    tree = KeyTree(texts)
    assert set(tree.keys("")) == texts
    for folder in {"/".join(key[:n]) for key in keys for n in range(len(key))}:
        head = f"{folder}/" if folder else ""
        assert set(tree.children(folder)) == {
            text[len(head) :].partition("/")[0] for text in texts if text.startswith(head)
        }
