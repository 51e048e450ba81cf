"""Documents from somebody else: which files and hosts they may make the store read, and which not."""

import copy
import json
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from shadowzarr import RfsBuilder, RfsStore, load_rfs, open_rfs, write_rfs
from shadowzarr.access import checked_connections
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.errors import RefusedPlaceError, UsageError
from shadowzarr.testing.http_messages import Response
from shadowzarr.testing.http_server import LoopbackServer
from shadowzarr.testing.range_server import RangeServer

SECRET = b"secret01"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "private" / "secret.bin"
    path.parent.mkdir()
    path.write_bytes(SECRET)
    return path


def naming(url: str, **parts: object) -> dict:
    """A document whose array ``a`` is the eight bytes of a file."""
    builder = RfsBuilder()
    builder.add_array("a", shape=[8], data_type="uint8", chunk_shape=[8])
    document = {**builder.build(), **parts}
    document["refs"]["a/c/0"] = [url, 0, 8]
    return document


def served(folder: Path, document: dict) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "refs.json").write_text(json.dumps(document))


def value(store: RfsStore) -> bytes:
    import zarr

    return zarr.open_array(store, path="a", mode="r")[...].tobytes()


def spellings(path: Path) -> list[dict]:
    """Documents that name a file of this machine, each in another way."""
    local = str(path)
    held = naming("http://h/x")
    del held["refs"]["a/c/0"]
    gen = {"key": "a/c/{{i}}", "url": local, "offset": 0, "length": 8, "dimensions": {"i": {"stop": 1}}}
    index = {"a": {"url": local, "index": "index/a"}}
    return [
        naming(local),
        naming(path.as_uri()),
        naming(f"FILE://{local}"),
        naming(f"file://localhost{local}"),
        naming("{{u}}", templates={"u": local}),
        naming("{{u}}{{v}}", templates={"u": "file:", "v": f"//{local}"}),
        naming("http://h/x", sources={local: {"size": 8}}),
        {**held, "gen": [gen], "version": 2},
        {**held, "indexes": index, "version": 2},
    ]


class TestDocumentsFromTheNetwork:
    def test_files_of_this_machine_are_refused_however_they_are_spelled(
        self, tmp_path: Path, secret: Path
    ) -> None:
        documents = spellings(secret)
        with RangeServer(tmp_path / "web") as server:
            for document in documents:
                served(tmp_path / "web", document)
                for load in (load_rfs, open_rfs, RfsStore):
                    with pytest.raises(RefusedPlaceError, match="of this machine.*allow_local_files=True"):
                        load(server.url("refs.json"))
            assert len(server.log) == 3 * len(documents) == 27  # the document, and nothing else

    def test_allowed_by_argument(self, tmp_path: Path, secret: Path) -> None:
        served(tmp_path / "web", naming(str(secret)))
        with RangeServer(tmp_path / "web") as server:
            url = server.url("refs.json")
            assert value(RfsStore(url, allow_local_files=True)) == SECRET
            assert open_rfs(url, allow_local_files=True)["a"][...].tobytes() == SECRET
            assert load_rfs(url, allow_local_files=True)["refs"]["a/c/0"][0] == str(secret)
            with pytest.raises(RefusedPlaceError, match="below"):
                load_rfs(url, allow_local_files=True, local_roots=[tmp_path / "web"])

    def test_other_schemes_are_refused_too(self, tmp_path: Path) -> None:
        with RangeServer(tmp_path / "web") as server:
            for place in ("gs://bucket/x", "ftp://h/x", "dandi://x", "h5://x"):
                served(tmp_path / "web", naming(place))
                with pytest.raises(RefusedPlaceError):
                    load_rfs(server.url("refs.json"))

    def test_names_relative_to_the_document_stay_on_its_server(self, tmp_path: Path) -> None:
        served(tmp_path / "web", naming("../../../../etc/passwd"))
        with RangeServer(tmp_path / "web") as server:
            assert load_rfs(server.url("refs.json"))["refs"]["a/c/0"][0] == server.url("etc/passwd")


class TestLocalRoots:
    def test_files_below_a_root_are_read_and_no_others(self, tmp_path: Path, secret: Path) -> None:
        open_data = tmp_path / "data"
        open_data.mkdir()
        (open_data / "x.bin").write_bytes(b"openopen")
        served(tmp_path / "docs", naming("../data/x.bin"))
        path = tmp_path / "docs"
        assert value(RfsStore(path, local_roots=[open_data])) == b"openopen"
        for roots in ([], [tmp_path / "dat"], [tmp_path / "docs"]):
            with pytest.raises(RefusedPlaceError, match="local_roots"):
                RfsStore(path, local_roots=roots)
        served(tmp_path / "docs", naming("../data/../private/secret.bin"))
        with pytest.raises(RefusedPlaceError, match="local_roots"):
            open_rfs(path, local_roots=[open_data])
        assert value(RfsStore(path)) == SECRET  # without roots, local documents name local files

    def test_however_a_file_is_spelled(self, tmp_path: Path, secret: Path) -> None:
        for document in spellings(secret):
            served(tmp_path / "docs", document)
            with pytest.raises(RefusedPlaceError, match="local_roots"):
                load_rfs(tmp_path / "docs", local_roots=[tmp_path / "docs"])
            assert load_rfs(tmp_path / "docs", local_roots=[secret.parent])

    def test_symbolic_links_are_followed_before_the_check(self, tmp_path: Path, secret: Path) -> None:
        root = tmp_path / "root"
        root.mkdir()
        (root / "link.bin").symlink_to(secret)
        (root / "folder").symlink_to(secret.parent)
        for name in ("link.bin", "folder/secret.bin"):
            with pytest.raises(RefusedPlaceError, match="which leads to .*secret.bin"):
                load_rfs(naming(str(root / name)), local_roots=[root])
        (tmp_path / "another").symlink_to(secret.parent)  # a root may be a link itself
        assert value(RfsStore(naming(str(secret)), local_roots=[tmp_path / "another"])) == SECRET

    def test_a_link_that_is_made_after_loading_gains_nothing(self, tmp_path: Path, secret: Path) -> None:
        root = tmp_path / "root"
        root.mkdir()
        (root / "x.bin").write_bytes(b"openopen")
        store = RfsStore(load_rfs(naming(str(root / "x.bin"))), local_roots=[root])
        (root / "x.bin").unlink()
        (root / "x.bin").symlink_to(secret)
        with pytest.raises(RefusedPlaceError, match="local_roots"):
            value(store)

    def test_copies_of_a_store_keep_it(self, tmp_path: Path, secret: Path) -> None:
        store = RfsStore(load_rfs(naming(str(secret))), local_roots=[tmp_path / "root"])
        reader = DefaultReader(local_roots=[tmp_path / "root"])
        for made in (
            pickle.loads(pickle.dumps(store)),
            copy.deepcopy(store),
            copy.copy(store),
            RfsStore(store.rfs, reader=reader),
            RfsStore(store.rfs, reader=pickle.loads(pickle.dumps(reader))),
        ):
            with pytest.raises(RefusedPlaceError, match="local_roots"):
                value(made)

    def test_a_file_of_unknown_length_is_not_even_asked_for_its_size(
        self, tmp_path: Path, secret: Path
    ) -> None:
        document = naming(str(secret))
        document["refs"]["a/c/0"] = [str(secret)]
        with pytest.raises(RefusedPlaceError, match="local_roots"):
            value(RfsStore(document, local_roots=[tmp_path / "root"]))

    def test_roots_are_folders_of_this_machine(self, secret: Path) -> None:
        with pytest.raises(UsageError, match="folders of this machine"):
            load_rfs(naming(str(secret)), local_roots=["https://h/x"])

    def test_a_reader_that_cannot_be_restricted_is_refused(self, secret: Path) -> None:
        class Other:
            """Reads as it likes."""

        with pytest.raises(UsageError, match="Other is none"):
            RfsStore(load_rfs(naming(str(secret))), reader=Other(), local_roots=["/"])


@pytest.fixture
def indexed(tmp_path: Path) -> Path:
    """References with a chunk index, as a directory; their file lies elsewhere."""
    data = tmp_path / "data" / "x.bin"
    data.parent.mkdir()
    data.write_bytes(bytes(range(8)))
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array("a", shape=[8], data_type="uint8", chunk_shape=[2])
    index = np.stack([np.arange(0, 8, 2), np.full(4, 2)], axis=-1).astype(np.uint64)
    builder.add_index("a", str(data), index)
    write_rfs(builder.build(), tmp_path / "docs")
    return tmp_path / "docs"


def moved(document: Path, place: str) -> None:
    rfs = json.loads((document / "refs.json").read_text())
    rfs["indexes"]["a"]["index"] = place
    (document / "refs.json").write_text(json.dumps(rfs))


class TestIndexArrays:
    def place(self, document: Path) -> str:
        return json.loads((document / "refs.json").read_text())["indexes"]["a"]["index"]

    def test_an_index_outside_of_the_folder_is_refused(self, tmp_path: Path, indexed: Path) -> None:
        place = self.place(indexed)
        shutil.copytree(indexed, tmp_path / "elsewhere")
        for outside in (f"../elsewhere/{place}", str(tmp_path / "elsewhere" / place), "/etc", "..", "/"):
            moved(indexed, outside)
            with pytest.raises(RefusedPlaceError, match="not in their folder"):
                load_rfs(indexed)
        moved(indexed, str(indexed / place))
        assert value(RfsStore(indexed)) == bytes(range(8))

    def test_nor_by_a_link(self, tmp_path: Path, indexed: Path) -> None:
        shutil.copytree(indexed, tmp_path / "elsewhere")
        (indexed / "link").symlink_to(tmp_path / "elsewhere")
        moved(indexed, f"link/{self.place(indexed)}")
        with pytest.raises(RefusedPlaceError, match="not in their folder"):
            load_rfs(indexed)

    def test_over_the_network(self, tmp_path: Path, indexed: Path) -> None:
        place = self.place(indexed)
        shutil.copytree(indexed, tmp_path / "docs2")
        with RangeServer(tmp_path) as server:
            options = {"allow_local_files": True}
            assert value(RfsStore(server.url("docs"), **options)) == bytes(range(8))
            for outside in (
                f"../docs2/{place}",
                server.url(f"docs2/{place}"),
                server.url("docs/") + "%2e%2e/docs2",
                f"https://h/docs/{place}",
                str(indexed / place),
                "file:index",
            ):
                moved(indexed, outside)
                with pytest.raises(RefusedPlaceError, match="not in their folder"):
                    load_rfs(server.url("docs"), **options)

    def test_it_is_read_beside_the_document_whatever_the_roots(self, tmp_path: Path, indexed: Path) -> None:
        root = tmp_path / "data"
        store = RfsStore(indexed, local_roots=[root])
        for each in (store, pickle.loads(pickle.dumps(store)), open_rfs(indexed, local_roots=[root]).store):
            assert value(each) == bytes(range(8))
        inside = RfsStore(load_rfs(indexed, local_roots=[root]), local_roots=[root])
        with pytest.raises(RefusedPlaceError, match="local_roots"):  # in memory it has no folder
            value(inside)

    def test_files_of_it_that_are_links_to_elsewhere(self, tmp_path: Path, indexed: Path) -> None:
        (chunk,) = [path for path in (indexed / self.place(indexed)).rglob("*") if path.name == "0"][-1:]
        chunk.rename(tmp_path / "moved")
        chunk.symlink_to(tmp_path / "moved")
        assert value(RfsStore(indexed)) == bytes(range(8))
        with pytest.raises(RefusedPlaceError, match="local_roots"):
            value(RfsStore(indexed, local_roots=[tmp_path / "data"]))


class Redirects:
    """Sends to another place, and counts."""

    def __init__(self, target: str) -> None:
        self.target = target

    def respond(self, *_: object) -> Response:
        return Response(302, {"Location": self.target})

    refuse = respond


@pytest.fixture
def only_second_is_internal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let 127.0.0.1 stand for a host on the internet, and 127.0.0.2 for one of the internal network."""
    monkeypatch.setattr(checked_connections, "is_internal", lambda address: address == "127.0.0.2")


@pytest.fixture
def web(tmp_path: Path) -> Iterator[RangeServer]:
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "x.bin").write_bytes(SECRET)
    with RangeServer(folder) as server:
        yield server


def refused(url: str, **options: object) -> None:
    with pytest.raises(RefusedPlaceError, match="internal address"):
        value(RfsStore(naming(url), allow_private=False, **options))


class TestInternalAddresses:
    def test_they_are_read_unless_refused(self, web: RangeServer) -> None:
        url = web.url("x.bin")
        assert value(RfsStore(naming(url))) == SECRET
        asked = len(web.log)
        for each in (url, url.replace("127.0.0.1", "localhost"), url.replace("127.0.0.1", "2130706433")):
            refused(each)
        document = naming(url)
        document["refs"]["a/c/0"] = [url]
        with pytest.raises(RefusedPlaceError, match="internal address"):
            value(RfsStore(document, allow_private=False))
        assert len(web.log) == asked

    def test_copies_of_a_store_keep_it(self, web: RangeServer) -> None:
        store = RfsStore(load_rfs(naming(web.url("x.bin"))), allow_private=False)
        reader = DefaultReader(allow_private=False)
        for made in (
            pickle.loads(pickle.dumps(store)),
            copy.deepcopy(store),
            RfsStore(store.rfs, reader=pickle.loads(pickle.dumps(reader))),
        ):
            with pytest.raises(RefusedPlaceError, match="internal address"):
                value(made)
        assert len(web.log) == 0

    def test_documents_and_index_arrays_too(self, tmp_path: Path, indexed: Path) -> None:
        with RangeServer(tmp_path) as server:
            with pytest.raises(RefusedPlaceError, match="internal address"):
                load_rfs(server.url("docs"), allow_private=False)
            rfs = load_rfs(server.url("docs"), allow_local_files=True)
            asked = len(server.log)
            with pytest.raises(RefusedPlaceError, match="internal address"):
                value(RfsStore(rfs, allow_private=False))
            assert len(server.log) == asked

    @pytest.mark.usefixtures("only_second_is_internal")
    def test_public_hosts_are_read(self, web: RangeServer) -> None:
        assert value(RfsStore(naming(web.url("x.bin")), allow_private=False)) == SECRET

    @pytest.mark.usefixtures("only_second_is_internal")
    @pytest.mark.parametrize("path", ["x.bin", "api/assets/00000000-0000-0000-0000-000000000000/download/"])
    def test_redirects_to_one_are_refused(self, tmp_path: Path, path: str) -> None:
        with RangeServer(tmp_path, host="127.0.0.2") as inner:
            target = inner.url("x.bin").replace("127.0.0.1", "127.0.0.2")
            with LoopbackServer(Redirects(target)) as server:
                refused(f"{server.base_url}/{path}")
            assert len(inner.log) == 0

    @pytest.mark.usefixtures("only_second_is_internal")
    def test_a_name_that_changes_its_address_in_between(
        self, web: RangeServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(checked_connections, "_check_name", lambda _host, _port: None)
        with RangeServer(web.folder, host="127.0.0.2") as inner:
            refused(inner.base_url.replace("127.0.0.1", "127.0.0.2") + "/x.bin")
            assert len(inner.log) == 0


@pytest.mark.parametrize("allow_private", [True, False])
@pytest.mark.parametrize("scheme", ["file", "ftp"])
def test_redirects_away_from_http_are_refused(
    secret: Path, monkeypatch: pytest.MonkeyPatch, scheme: str, allow_private: bool
) -> None:
    monkeypatch.setattr(checked_connections, "is_internal", lambda _: False)
    reader = DefaultReader(retries=RetryPolicy(attempts=1))
    with LoopbackServer(Redirects(f"{scheme}://{secret}")) as server:
        store = RfsStore(naming(f"{server.base_url}/x"), reader=reader, allow_private=allow_private)
        with pytest.raises(OSError, match="not a URL that can be read"):
            value(store)


def test_an_endless_redirect_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked_connections, "is_internal", lambda _: False)
    with LoopbackServer(Redirects("/x")) as server:
        store = RfsStore(naming(f"{server.base_url}/x"), allow_private=False)
        with pytest.raises(OSError, match="more than 5 redirects"):
            value(store)
        assert len(server.log) == 6


def test_environment_variables_of_proxies_mean_nothing(
    web: RangeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy would be asked for the internal host, and make the connection that is refused here."""
    monkeypatch.setenv("http_proxy", web.base_url)
    refused("http://127.0.0.2:9/x.bin")
    assert len(web.log) == 0
