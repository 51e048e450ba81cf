"""Reading through zarr from a server that counts: values, requests, bytes, and every kind of failure."""

import base64
import datetime
import json
import math
import traceback
from typing import ClassVar

import numpy as np
import pytest
import zarr

from shadowzarr import RfsBuilder, RfsStore, SourceChangedError, load_rfs, open_rfs, write_rfs
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.attributes import encode_attributes
from shadowzarr.errors import (
    AccessDeniedError,
    InvalidReferencesError,
    ReadError,
    ShortReadError,
    SourceNotFoundError,
    TransientReadError,
)
from shadowzarr.testing.faults import Fault
from shadowzarr.testing.range_server import RangeServer, content_etag


@pytest.fixture
def server(recording, tmp_path):
    with RangeServer(tmp_path) as server:
        yield server


@pytest.fixture
def web(recording, server, tmp_path):
    """URL of the directory form, on the server beside its source."""
    etag = f'"{content_etag(recording.path)}"'
    write_rfs(recording.build(server.url("raw.bin"), etag=etag).build(), tmp_path / "x.shadowzarr")
    server.log.clear()
    return server.url("x.shadowzarr")


def test_opening_and_reading_one_chunk_of_an_indexed_array_takes_three_requests(recording, server, web):
    array = open_rfs(web)["group/indexed"]
    np.testing.assert_array_equal(array[120:180], recording.data[120:180])
    document, index, chunk = server.log
    assert document.path == "/x.shadowzarr/refs.json"
    assert index.path.startswith("/x.shadowzarr/index/")
    assert (chunk.path, chunk.stop - chunk.start) == ("/raw.bin", 60 * 32)
    assert chunk.if_match is not None


def test_an_unreadable_chunk_is_one_traceback_that_ends_with_our_message(recording):
    array = open_rfs(recording.build().build())["slabs"]
    recording.path.unlink()
    with pytest.raises(SourceNotFoundError) as caught:
        array[:10]
    text = "".join(traceback.format_exception(caught.value))
    assert text.count("Traceback (most recent call last)") == 1
    assert text.splitlines()[-1].startswith("shadowzarr.errors.SourceNotFoundError: chunk (0, 0) of array")
    assert isinstance(caught.value.__context__, SourceNotFoundError)  # for who debugs


def test_opening_takes_one_request(server, web):
    root = open_rfs(web)
    assert {"slabs", "group", "columns"} == set(root.keys())
    assert root["group/indexed"].shape == (1000, 16)
    assert math.isnan(root.attrs["resolution"])
    assert len(server.log) == 1


def test_all_chunks_of_an_indexed_array_take_one_index_read(recording, server, web):
    root = open_rfs(web, max_merge_size=0)
    np.testing.assert_array_equal(root["group/indexed"][...], recording.indexed())
    assert server.log.count("*/index/*") == 1
    assert server.log.count("raw.bin") == 9


def test_s3(recording, tmp_path, monkeypatch):
    """Document, index array and source in a bucket; the server stands for its endpoint."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    write_rfs(recording.build("s3://bucket/raw.bin").build(), tmp_path / "bucket" / "x.shadowzarr")
    recording.path.rename(tmp_path / "bucket" / "raw.bin")
    with RangeServer(tmp_path) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.base_url)
        root = open_rfs("s3://bucket/x.shadowzarr")
        np.testing.assert_array_equal(root["group/indexed"][...], recording.indexed())
        assert {entry.path.split("/")[1] for entry in server.log} == {"bucket"}


def test_near_reads_of_small_chunks_share_requests(recording, server, web):
    np.testing.assert_array_equal(open_rfs(web)["group/indexed"][...], recording.indexed())
    assert server.log.count("raw.bin") == 1
    server.log.clear()
    np.testing.assert_array_equal(open_rfs(web, merge_gap=0)["group/indexed"][...], recording.indexed())
    assert server.log.count("raw.bin") == 2  # chunk 4 is not there, so the file has a gap
    server.log.clear()
    open_rfs(web, merge_below=3199)["group/indexed"][...]
    assert server.log.count("raw.bin") == 9


def test_a_hundred_samples_from_a_slab_of_4_mib_move_a_hundred_samples(server, tmp_path):
    data = np.arange(2**20, dtype="<i4")
    (tmp_path / "slab.bin").write_bytes(data.tobytes() * 2)
    builder = RfsBuilder()
    builder.add_array("a", shape=[2**21], data_type="int32", chunk_shape=[2**20])
    layout = {"url": server.url("slab.bin"), "start": 0, "shape": [2**21], "chunk_shape": [2**20]}
    builder.add_contiguous_chunks("a", itemsize=4, **layout)
    array = open_rfs(builder.build())["a"]
    server.log.clear()
    np.testing.assert_array_equal(array[5000:5100], data[5000:5100])
    assert server.log.bytes_sent == 400
    plain = zarr.open_group(RfsStore(builder.build()), mode="r")["a"]
    np.testing.assert_array_equal(plain[2**20 - 50 : 2**20 + 50], np.r_[data[-50:], data[:50]])
    assert server.log.bytes_sent == 800


def test_the_other_codec_pipeline_reads_parts_too(recording, server, web):
    path = "zarr.core.codec_pipeline.FusedCodecPipeline"
    with zarr.config.set({"codec_pipeline.path": path}):
        root = open_rfs(web)
        server.log.clear()
        np.testing.assert_array_equal(root["slabs"][5:9], recording.data[5:9])
        assert server.log.bytes_sent == 4 * 32
        np.testing.assert_array_equal(root["columns"][...], recording.data[:, [5, 1, 2]])


def test_a_few_samples_of_selected_columns_move_their_records(recording, server, web):
    columns = open_rfs(web)["columns"]
    server.log.clear()
    np.testing.assert_array_equal(columns[290:310, 1], recording.data[290:310, 1])
    assert server.log.bytes_sent <= 20 * 32


def test_a_copy_is_an_ordinary_store(recording, web, tmp_path):
    array = open_rfs(web)["slabs"]
    assert array.metadata.to_dict()["codecs"][0]["name"] == "bytes"
    copied = zarr.from_array(tmp_path / "copy", data=array)
    np.testing.assert_array_equal(copied[...], recording.data)
    assert "shadowzarr" not in (tmp_path / "copy" / "zarr.json").read_text()


@pytest.mark.parametrize("name", ["back\\slash", "#?%&", " spaces ", "c", "0", "ü", "zarr.json.x", "+%20"])
def test_every_node_is_found_under_its_own_name(recording, name):
    builder = RfsBuilder()
    builder.add_array(f"g/{name}/{name}", shape=[1000, 16], data_type="int16", chunk_shape=[100, 16])
    builder.add_index(f"g/{name}/{name}", str(recording.path), recording.index())
    builder.add_array(f"g/{name}/inline", shape=[2], data_type="int8", chunk_shape=[2])
    builder.add_inline_chunk(f"g/{name}/inline", (0,), b"\1\2")
    for root in (open_rfs(builder.build()), zarr.open_group(RfsStore(builder.build()), mode="r")["g"][name]):
        group = root if root.path else root["g"][name]
        assert set(group.keys()) == {name.rpartition("\\")[2], "inline"}  # zarr takes \ for /
        np.testing.assert_array_equal(group[name][...], recording.indexed())
        np.testing.assert_array_equal(group["inline"][...], [1, 2])


def test_strict_json_reads_the_same_values(recording, web):
    root = open_rfs(web, strict_json=True)
    assert root.attrs["resolution"] == "NaN"
    np.testing.assert_array_equal(root["slabs"][100:400], recording.data[100:400])


def test_only_unlisted_chunks_are_fill_value(recording, web):
    assert (open_rfs(web)["group/indexed"][400:500] == 0).all()


FAILURES = [
    (Fault(path="raw.bin", status=404), SourceNotFoundError, 404),
    (Fault(path="raw.bin", status=403), AccessDeniedError, 403),
    (Fault(path="raw.bin", status=503), TransientReadError, 503),
    (Fault(path="raw.bin", status=412), SourceChangedError, None),
    (Fault(path="raw.bin", drop=True), TransientReadError, None),
    (Fault(path="raw.bin", short_by=5, declare_short=True), ShortReadError, None),
    (Fault(path="raw.bin", ignore_range=True), ReadError, None),
]


@pytest.mark.parametrize(
    ("fault", "error", "status"), FAILURES, ids=lambda value: getattr(value, "__name__", "")
)
@pytest.mark.parametrize(
    ("path", "rows"), [("slabs", np.s_[0:5]), ("group/indexed", np.s_[...]), ("columns", np.s_[0:5])]
)
def test_a_failed_read_is_an_error_of_ours(web, server, impatient, fault, error, status, path, rows):
    array = open_rfs(web, reader=impatient)[path]
    server.faults.add(Fault(**{**fault.__dict__, "hits": 0, "_passed": 0}))
    with pytest.raises(
        error, match=rf"chunk \(\d, 0\) of array '/{path}'.*{server.url('raw.bin')}"
    ) as caught:
        array[rows]
    assert not isinstance(caught.value, FileNotFoundError | KeyError)
    if status is not None:
        assert caught.value.status == status
    server.faults.clear()
    if fault.ignore_range:  # it is remembered for a while that this server ignores ranges
        array = open_rfs(web, reader=DefaultReader())[path]
    array[rows]


def test_messages_hold_no_query(recording, server, impatient, tmp_path):
    url = server.url("none.bin") + "?X-Amz-Signature=secret"
    root = open_rfs(recording.build(url).build(), reader=impatient)
    for path in ("slabs", "group/indexed", "columns"):
        with pytest.raises(SourceNotFoundError) as caught:
            root[path][0]
        assert "secret" not in str(caught.value)
        assert "none.bin" in str(caught.value)


def replace(recording, data):
    recording.path.write_bytes(data)


CHANGES = {"longer": lambda old: old + b"x", "same size": lambda old: old[:-1] + bytes([old[-1] ^ 1])}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_source_is_refused(recording, web, impatient, change):
    root = open_rfs(web, reader=impatient)
    replace(recording, CHANGES[change](recording.path.read_bytes()))
    with pytest.raises(SourceChangedError, match=r"array '/slabs'.*validate_sources=False"):
        root["slabs"][0]
    unchecked = open_rfs(web, validate_sources=False, reader=impatient)
    np.testing.assert_array_equal(unchecked["slabs"][0], recording.data[0])


def test_a_changed_local_file_is_refused(recording):
    root = open_rfs(recording.build().build())
    replace(recording, recording.path.read_bytes() + b"x")
    with pytest.raises(SourceChangedError, match="expected 32012"):
        root["slabs"][0]
    unchecked = open_rfs(recording.build(size=5).build(), validate_sources=False)
    np.testing.assert_array_equal(unchecked["slabs"][0], recording.data[0])


def test_a_truncated_file_is_an_error_even_unchecked(recording):
    root = open_rfs(recording.build().build(), validate_sources=False)
    replace(recording, recording.path.read_bytes()[:-1])
    with pytest.raises(ShortReadError, match=r"chunk \(3, 0\) of array '/slabs'"):
        root["slabs"][990:]
    np.testing.assert_array_equal(root["slabs"][990:999], recording.data[990:999])


def test_the_file_may_end_where_the_array_does(recording):
    """The last slab is referenced at full length, past the end of the file."""
    root = open_rfs(recording.build().build())
    np.testing.assert_array_equal(root["slabs"][900:], recording.data[900:])
    np.testing.assert_array_equal(root["slabs"].oindex[[999, 5]], recording.data[[999, 5]])


def test_a_root_that_is_missing_is_said(tmp_path):
    with pytest.raises(InvalidReferencesError, match="expected version 1 or 2"):
        open_rfs({"refs": {}})


@pytest.fixture(scope="module")
def nwb_refs():
    """An NWB file with a NaN resolution, held inline."""
    pynwb, hdmf_zarr = pytest.importorskip("pynwb"), pytest.importorskip("hdmf_zarr")
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    nwbfile = pynwb.NWBFile(session_description="d", identifier="i", session_start_time=start)
    series = pynwb.TimeSeries(name="ts", data=np.arange(100.0), unit="V", rate=1.0, resolution=math.nan)
    nwbfile.add_acquisition(series)
    store = zarr.storage.MemoryStore()
    with pytest.warns(UserWarning, match="Consolidated"), hdmf_zarr.NWBZarrIO(store, mode="w") as io:
        io.write(nwbfile)
    refs = {}
    for key, value in store._store_dict.items():
        refs[key] = "base64:" + base64.b64encode(value.to_bytes()).decode()
        if key.endswith("zarr.json"):
            document = json.loads(value.to_bytes())
            document["attributes"] = encode_attributes(document["attributes"])
            document.pop("consolidated_metadata", None)
            refs[key] = json.dumps(document, allow_nan=False)
    return {"version": 1, "refs": refs}


class Counting(RfsStore):
    """Notes what is asked for."""

    asked: ClassVar[list[str]] = []
    listed: ClassVar[list[str]] = []

    async def get(self, key, prototype, byte_range=None):
        self.asked.append(key)
        return await super().get(key, prototype, byte_range)

    async def list_dir(self, prefix):
        self.listed.append(prefix)
        async for name in super().list_dir(prefix):
            yield name


def test_nwb_opens_with_one_read_of_metadata(nwb_refs):
    import hdmf_zarr

    Counting.asked.clear()
    Counting.listed.clear()
    with hdmf_zarr.NWBZarrIO(Counting(load_rfs(nwb_refs)), mode="r") as io:
        nwbfile = io.read()
        series = nwbfile.acquisition["ts"]
        assert math.isnan(series.resolution)
        np.testing.assert_array_equal(series.data[10:20], np.arange(10.0, 20.0))
    assert {key for key in Counting.asked if key.endswith("zarr.json")} == {"zarr.json"}
    assert Counting.listed == []


def test_nwb_validates(nwb_refs):
    import hdmf_zarr
    import pynwb

    with hdmf_zarr.NWBZarrIO(RfsStore(nwb_refs), mode="r") as io:
        assert pynwb.validate(io=io) == []


def test_references_without_a_root_group(recording):
    with pytest.raises(InvalidReferencesError, match="have no zarr.json at their root"):
        open_rfs({"version": 1, "refs": {}})
    array = json.loads(recording.build().build()["refs"]["slabs/zarr.json"])
    with pytest.raises(InvalidReferencesError, match="the root of the references is an array"):
        open_rfs({"version": 1, "refs": {"zarr.json": json.dumps(array)}})


def test_a_rule_for_another_number_of_axes_is_never_taken_for_fill_values(recording):
    rfs = recording.build().build()
    rfs["gen"] = [{**entry, "key": f"{entry['key']}/0"} for entry in rfs["gen"]]
    array = open_rfs(rfs)["slabs"]
    with pytest.raises(
        InvalidReferencesError, match=r"gen entry 'slabs/c/\{\{i\}\}/0/0' is for 3 axes; array '/slabs' has 2"
    ):
        array[:]


def test_the_name_of_a_store_whose_files_are_not_utf_8(recording, tmp_path):
    folder = tmp_path / "\udcff"
    folder.mkdir()
    write_rfs(recording.build().build(), folder / "x")
    store = RfsStore(load_rfs(folder / "x"))
    assert str(store).startswith("shadowzarr://")
    assert store == RfsStore(load_rfs(folder / "x"))
    np.testing.assert_array_equal(zarr.open_group(store, mode="r")["group/indexed"][:], recording.indexed())


def test_the_name_of_a_store_with_parts_that_are_no_text(recording):
    rfs = {**recording.build().build(), "\ud800": {"\ud800": 2**70}}
    assert str(RfsStore(rfs)) == str(RfsStore(dict(rfs)))
    assert str(RfsStore(rfs)) != str(RfsStore(recording.build().build()))
