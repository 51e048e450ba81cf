"""Documents changed at random, and what comes of each; as a program it takes seeds and prints what is wrong.

Valid documents are changed at a few places: other types, missing parts, huge numbers, deep nesting, odd text,
inside the metadata documents too. Loading, opening, listing, reading, ``info`` and ``to_hdf5`` may then raise
errors of the library, and no others; time and memory are bounded by the process that runs this.
"""

import asyncio
import contextlib
import copy
import io
import json
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zarr

from shadowzarr.cli import info as info_verb
from shadowzarr.errors import ShadowzarrError
from shadowzarr.export.to_hdf5 import to_hdf5
from shadowzarr.store.load_rfs import load_rfs, parse_document
from shadowzarr.store.open_rfs import open_rfs
from shadowzarr.store.rfs_store import RfsStore
from shadowzarr.write import write_rfs

INDEX = Path(__file__).parents[1] / "golden" / "format-1" / "directory.shadowzarr" / "index"
SECONDS = 20
"""For one document, with room for a busy machine; without bounds most faults take for ever."""
MEMORY = 3 * 2**30
MOST_VALUES = 2**20
"""Arrays of more values are not read whole: their memory is the caller's own wish."""

Place = tuple[Any, Any]
"""A container, and a key or number in it."""

NUMBERS = (0, 1, -1, 2, 7, 2**31, 2**53, 2**62, 2**63 - 1, 2**63, 2**64, 10**18, 10**30, -(2**63), 1.5, 1e300)
TEXTS = (
    *(
        "",
        "c",
        "a",
        "zarr.json",
        "/",
        "..",
        "../..",
        "a/c/0",
        "{{u0}}",
        "{{nope}}",
        "{{i}}",
        "{{9*9}}",
        "\0",
        "é",
    ),
    *(
        "\ud800",
        "NaN",
        "base64:",
        "base64:!",
        "http://[",
        "http://h:x/",
        "ftp://h/x",
        "file://h/x",
        "file:///",
        "~",
    ),
    *(
        "bytes",
        "int8",
        "float64",
        "string",
        "zstd",
        "blosc",
        "transpose",
        "sharding_indexed",
        "regular",
        "array",
    ),
    *(
        "group",
        "H5T_INTEGER",
        "H5T_VLEN",
        "H5T_COMPOUND",
        "H5S_NULL",
        "H5S_SIMPLE",
        "H5D_CHUNKED",
        "x" * 3000,
    ),
)


def places(document: Any) -> list[Place]:
    """Every place inside a document."""
    found: list[Place] = []
    waiting = [document]
    while waiting:
        value = waiting.pop()
        keys = (
            list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        )
        found += [(value, key) for key in keys]
        waiting += [value[key] for key in keys]
    return found


def anything(source: random.Random, document: Any) -> Any:
    """A value of any type, or one from elsewhere in the document."""
    nested: Any = 1
    for _ in range(source.choice((1, 3, 600, 3000))):
        nested = [nested] if source.random() < 0.5 else {"a": nested}
    choices: tuple[Callable[[], Any], ...] = (
        lambda: source.choice(NUMBERS),
        lambda: source.choice(TEXTS),
        lambda: source.choice(
            (None, True, False, [], {}, [None], [0], [[]], {"name": "bytes"}, float("nan"))
        ),
        lambda: nested,
        lambda: json.loads(json.dumps(pick(source, document))),
    )
    return source.choice(choices)()


def pick(source: random.Random, document: Any) -> Any:
    container, key = source.choice(places(document))
    return container[key]


def change(source: random.Random, document: Any) -> None:
    """Change one place, inside a metadata document if it is one of those."""
    container, key = source.choice(places(document))
    value = container[key]
    if isinstance(value, str) and value.startswith("{") and source.random() < 0.9:
        with contextlib.suppress(ValueError, RecursionError, IndexError):
            inner = json.loads(value)
            change(source, inner)
            container[key] = json.dumps(inner)
            return
    action = source.randrange(6)
    if action == 0:
        del container[key]
    elif action == 1 and isinstance(container, dict):
        container[source.choice([*TEXTS, f"{key}/c/0", "zarr.json"])] = value
    elif action == 2 and isinstance(container, list):
        container.insert(key, value)
    elif action == 3 and isinstance(value, int):
        container[key] = source.choice((value + 1, value - 1, -value, value * 10**9, str(value)))
    elif action == 4 and isinstance(value, str):
        at = source.randrange(len(value) + 1)
        container[key] = value[:at] + source.choice(TEXTS) + value[at + source.randrange(3) :]
    else:
        container[key] = anything(source, document)


def changed(seed: int, originals: list[Any]) -> Any:
    """A document by its number."""
    source = random.Random(seed)
    document = copy.deepcopy(source.choice(originals))
    for _ in range(source.choice((1, 1, 1, 2, 3, 8))):
        if document:
            change(source, document)
    return document


def loads(document: Any) -> bool:
    """Whether a document is taken at all."""
    try:
        load_rfs(document)
    except ShadowzarrError:
        return False
    return True


def exercise(document: Any, folder: Path, *, may_fail: bool = True) -> list[tuple[str, BaseException]]:
    """All that is done with a document; gives the errors of others that came, or all."""
    wrong: list[tuple[str, BaseException]] = []

    def attempt(what: str, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except ShadowzarrError as error:
            if not may_fail:
                wrong.append((what, error))
            return None
        except BaseException as error:  # which is what is looked for
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            wrong.append((what, error))
            return None

    shutil.copytree(INDEX, folder / "index", dirs_exist_ok=True)  # which has to be beside the document
    path = folder / "fuzzed.json"
    try:
        path.write_text(json.dumps(document))
    except (RecursionError, UnicodeEncodeError):
        return wrong
    rfs = attempt("load", lambda: load_rfs(path))
    attempt("info", lambda: info(path, ""))
    attempt("to_hdf5", lambda: to_hdf5(path, folder / "out.h5", overwrite=True))
    if rfs is None:
        return wrong
    attempt("open", lambda: open_rfs(path))
    store = RfsStore(rfs) if attempt("store", lambda: RfsStore(rfs)) is not None else None
    if store is None:
        return wrong
    attempt("name", lambda: str(store))
    attempt("list", lambda: asyncio.run(listed(store)))
    for name in [key.rpartition("/")[0] for key in rfs["refs"] if key.rpartition("/")[2] == "zarr.json"][:12]:
        attempt(f"info {name!r}", lambda name=name: info(path, name))
        attempt(f"read {name!r}", lambda name=name: read(store, name))
    attempt("write", lambda: write_rfs(rfs, folder / "again.json"))
    attempt("write", lambda: write_rfs(rfs, folder / "again"))
    return wrong


def info(path: Path, name: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        info_verb.info(str(path), name)
        info_verb.info(str(path), name, json=True)


async def listed(store: RfsStore) -> None:
    names = 0
    async for _ in store.list():
        names += 1
        if names == 10_000:
            return


def read(store: RfsStore, name: str) -> None:
    """One node by zarr: what the store gives, and what zarr makes of it."""
    try:
        node = zarr.open(store, path=name, mode="r", zarr_format=3)
    except FileNotFoundError:
        return  # a name that zarr writes otherwise: it asks for another key then
    if not isinstance(node, zarr.Array) or max(node.size, chunk_values(node)) > MOST_VALUES:
        return
    try:
        node[...]
    except ShadowzarrError:
        raise
    except Exception as error:
        if is_ours(error):
            raise  # not a codec that finds bytes of another form than the metadata say


def is_ours(error: BaseException) -> bool:
    """Whether an error comes out of the library; a codec of zarr calls none of it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame.filename for frame in frames if "/shadowzarr/" in frame.filename]
    return any(not name.endswith(("/codecs.py", "/zlib_codec.py")) for name in own)


def chunk_values(array: zarr.Array) -> int:
    total = 1
    for edge in getattr(array, "chunks", ()):
        total *= edge
    return total


def originals(golden: Path) -> list[Any]:
    """Valid documents, whose files are at absolute places, and index arrays where `exercise` has them."""
    documents = []
    for path in (*sorted(golden.glob("*.json")), golden / "directory.shadowzarr" / "refs.json"):
        if path.name == "expected.json":
            continue
        parse_document(path.read_bytes(), path.name)
        text = path.read_text().replace("raw.bin", str(golden / "raw.bin")).replace("../", "")
        documents.append(json.loads(text))
    return documents


def main() -> None:
    golden, first, last, *more = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**26, 2**26))
    signal.signal(signal.SIGALRM, too_long)
    warnings.simplefilter("ignore")
    documents = originals(Path(golden)) + [json.loads(Path(path).read_text()) for path in more]
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(int(first), int(last)):
            signal.alarm(SECONDS)
            try:
                wrong = exercise(changed(seed, documents), Path(folder))
            except TimeoutError as error:
                wrong = [("time", error)]
            signal.alarm(0)
            for what, error in wrong:
                where = [
                    f"{Path(f.filename).name}:{f.lineno}"
                    for f in traceback.extract_tb(error.__traceback__)[-3:]
                ]
                text = f"{type(error).__name__}: {str(error)[:150]!r} ({' '.join(where)})"
                print(f"{seed} {what}: {text}", flush=True)
    print("done", flush=True)


def too_long(_number: int, _frame: object) -> None:
    raise TimeoutError


if __name__ == "__main__":
    main()
