import json

import pytest

from shadowzarr.catalog.repoint import count_places, replace_url

OLD, NEW, ETAG = "https://x/assets/1/download/", "https://x/assets/2/download/", "abc-1"


def document(**changes):
    rfs = {
        "version": 2,
        "templates": {"u0": OLD},
        "refs": {"zarr.json": '{"attributes":{}}', "a/c/0": ["{{u0}}", 0, 5], "b/c/0": [OLD]},
        "indexes": {"big": {"url": OLD, "index": "index/big-1"}},
        "sources": {OLD: {"size": 9, "etag": f'"{ETAG}"'}},
    }
    return rfs | changes


def dumped(rfs) -> bytes:
    return json.dumps(rfs, separators=(",", ":")).encode()


def test_the_url_is_replaced_wherever_a_source_is_named():
    found = json.loads(replace_url(dumped(document()), OLD, NEW, etag=ETAG))
    assert OLD not in json.dumps(found)
    assert count_places(found, NEW) == count_places(document(), OLD) == 4


def test_nothing_but_the_url_changes():
    content = dumped(document())
    assert replace_url(content, OLD, NEW, etag=ETAG) == content.replace(OLD.encode(), NEW.encode())


@pytest.mark.parametrize(
    "changes",
    [
        {"refs": {"zarr.json": json.dumps({"attributes": {"source": OLD}})}},
        {"refs": {"zarr.json": json.dumps({"attributes": {"source": f"see {OLD}x"}})}},
        {"refs": {"a/c/0": OLD}},
        {"sources": {OLD: {"size": 9, "etag": '"other-1"'}}},
        {"sources": {OLD: {"size": 9}}},
        {"sources": {}},
        {"converted": [{"path": "/a", "what": OLD}]},
    ],
)
def test_a_document_that_names_it_elsewhere_or_is_of_another_blob_is_left_alone(changes):
    assert replace_url(dumped(document(**changes)), OLD, NEW, etag=ETAG) is None
