"""``shadowzarr info`` of references of a file: tree, places of chunks, JSON."""

import json

from command_line import call, error_of


def test_info_shows_the_tree(made):
    result = call("info", made / "good")
    assert (result.returncode, result.stderr) == (0, "")
    assert "├─ " in result.stdout
    assert "data  4,000 × 10 int16  10 chunks of 400 × 10" in result.stdout
    assert "link → /wave" in result.stdout
    assert "good.h5" in result.stdout
    assert "\x1b[" not in result.stdout


def test_info_shows_how_chunks_lie(made):
    text = call("info", made / "good", "wave/data").stdout
    assert "chunks      10 chunks of 400 × 10" in text
    assert "in order" in text
    assert "█" in text
    assert '@unit  "mV"' in text


def test_info_as_json(made):
    record = json.loads(call("info", made / "good", "--json").stdout)
    nodes = {node["path"]: node for node in record["nodes"]}
    assert set(nodes) == {"/", "/wave", "/wave/data", "/name"}
    assert nodes["/"]["links"] == {"link": "/wave"}
    assert nodes["/wave/data"] == {
        "path": "/wave/data",
        "node_type": "array",
        "shape": [4000, 10],
        "data_type": "int16",
        "chunk_shape": [400, 10],
        "chunk_count": 10,
        "codecs": [],
        "where": "10 listed",
    }
    (source,) = record["sources"]
    assert source == str(made / "good.h5")
    below = json.loads(call("info", made / "good", "wave", "--json").stdout)
    assert [node["path"] for node in below["nodes"]] == ["/wave", "/wave/data"]


def test_info_of_an_array_as_json(made):
    record = json.loads(call("info", made / "good", "wave/data", "--json").stdout)
    assert record["attributes"]["unit"] == "mV"
    places = record["places"]
    assert (places["file"], places["stored_chunks"]) == (str(made / "good.h5"), 10)
    assert places["stored_bytes"] == 80_000
    record = json.loads(call("info", made / "good", "name", "--json").stdout)
    assert (record["chunk_count"], record["places"]["inline_chunks"], record["places"]["file"]) == (
        1,
        1,
        None,
    )


def test_info_of_a_path_that_is_not_there(made):
    result = call("info", made / "good", "wave/dat")
    assert result.returncode == 1
    assert "did you mean wave/data?" in error_of(result)
