from shadowzarr.formats.hdf5 import object_names as names


def test_bytes_that_are_not_utf8_come_back() -> None:
    assert names.encode_name(names.decode_name(b"caf\xe9")) == b"caf\xe9"


def test_printable_writes_them_in_hexadecimal() -> None:
    assert names.printable(names.decode_name(b"caf\xe9")) == "caf\\xe9"
    assert names.printable("µ 日本") == "µ 日本"


def test_names_that_zarr_cannot_hold() -> None:
    assert "'.'" in names.why_not_a_node(".")
    assert "'..'" in names.why_not_a_node("..")
    assert "UTF-8" in names.why_not_a_node("\udce9")
    for good in ("zarr.json", "c", "0", "a b", "back\\slash", "#refs#", "..."):
        assert names.why_not_a_node(good) == ""


def test_paths() -> None:
    assert names.child_path("", "a") == "a"
    assert names.child_path("a/b", "c") == "a/b/c"
    assert names.absolute("") == "/"
    assert names.attribute_path("a", "x") == "/a@x"


def test_tree_order_keeps_a_group_together() -> None:
    paths = ["a-b", "a/z", "", "a", "a/b"]
    assert sorted(paths, key=names.tree_order) == ["", "a", "a/b", "a/z", "a-b"]
