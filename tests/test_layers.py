"""Imports point one way; this reads them, so that the house keeps its shape for free."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# What each layer of the library may import, besides itself, `errors`, `_optional` and `_installation`.
MAY_IMPORT = {
    "errors": set(),
    "_installation": set(),
    "_optional": set(),
    "refs": set(),
    "attributes": set(),
    "hdf5_types": set(),
    "formatting": set(),
    "notebook": set(),
    "description": {"refs", "access", "formatting", "notebook"},
    "codecs": {"refs"},
    "blosc_codec": {"refs"},
    "zlib_codec": set(),
    "h5py_lock": set(),
    "hdf5_filters": {"h5py_lock"},
    "tiff_segments": set(),
    "access": {"refs"},
    "recordings": set(),
    "recording_files": {"recordings"},
    "recording_readers": {"recordings"},
    "recording_parts": {"recordings"},
    "recognition": {"refs", "access", "recordings", "recording_parts"},
    "builder": {"refs", "attributes", "codecs"},
    "replacing": set(),
    "write": {"refs", "access", "replacing"},
    "virtual": {"refs", "attributes", "builder", "notebook"},
    "zarr_v2": {"refs", "builder"},
    "store": {
        "description",
        "notebook",
        "refs",
        "attributes",
        "codecs",
        "blosc_codec",
        "zlib_codec",
        "access",
        "h5py_lock",
        "recognition",
    },
    "formats": {
        "refs",
        "attributes",
        "codecs",
        "hdf5_filters",
        "hdf5_types",
        "tiff_segments",
        "access",
        "builder",
        "virtual",
        "recognition",
        "recordings",
        "recording_readers",
        "recording_parts",
    },
    "export": {
        "refs",
        "attributes",
        "access",
        "replacing",
        "store",
        "hdf5_types",
        "formatting",
        "notebook",
    },
    "lindi": {"refs", "attributes", "zarr_v2", "access", "builder", "store", "formats"},
    "kerchunk": {"refs", "attributes", "zarr_v2", "access", "builder", "store", "write"},
    "relocation": {"refs", "access", "store", "write", "formatting", "notebook"},
    "verify": {
        "notebook",
        "refs",
        "attributes",
        "codecs",
        "access",
        "store",
        "hdf5_filters",
        "hdf5_types",
        "recognition",
        "recordings",
        "recording_readers",
        "recording_parts",
    },
    "catalog": {
        "notebook",
        "refs",
        "attributes",
        "access",
        "recognition",
        "recording_files",
        "formats",
        "replacing",
        "write",
        "store",
        "verify",
        "formatting",
        "icechunk",  # in catalog/refresh alone
        "export",
    },
    # both directions; chunks that cannot be virtual are read as our store reads them
    "icechunk": {"refs", "access", "store", "formatting"},
    # both directions; manifests hold what our store reads of chunks that are not whole
    "virtualizarr": {"refs", "attributes", "access", "builder", "virtual", "store", "formatting"},
    # reads what any store serves, and opens references by ours; virtual files are built and written
    "nwb": {"refs", "attributes", "access", "store", "builder", "virtual", "write"},
    # what NeuroConv's readers run over, by the generators of the formats; some values are compared
    "neuroconv_bridge": {"builder", "virtual", "store", "formats"},
    # what NeuroConv assembles, written, judged and published as the catalogue does with references
    "conversion": {
        "formats",  # what tifffile says of pages that are lost
        "neuroconv_bridge",
        "nwb",
        "catalog",
        "verify",
        "store",
        "access",
        "recording_files",
        "relocation",
        "export",
    },
    "testing": {"refs", "access", "formatting"},
    "doctor": {"access", "codecs", "formatting", "catalog"},  # of the catalogue, outputs in buckets alone
    "cli": {
        "refs",
        "access",
        "recognition",
        "catalog",
        "doctor",
        "formats",
        "write",
        "store",
        "verify",
        "virtualizarr",
        "testing",
        "attributes",
        "export",
        "formatting",
        "icechunk",
        "lindi",
        "kerchunk",
        "relocation",
    },
}
PIPELINE = {"prefect", "pydantic", "ruamel", "jinja2", "tasks", "flows"}


def imports(file: Path, root: Path = ROOT):
    """Absolute dotted names of all that a file imports, inside functions too."""
    package = file.relative_to(root).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def files(folder: str):
    return sorted((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("layer", sorted(MAY_IMPORT))
def test_a_layer_imports_only_those_below_it(layer):
    place = ROOT / "shadowzarr" / layer
    own = files(f"shadowzarr/{layer}") if place.is_dir() else [place.with_suffix(".py")]
    allowed = MAY_IMPORT[layer] | {layer, "errors", "_optional", "_installation"}
    wrong = []
    for file in own:
        if not file.is_file():
            continue
        for name in imports(file):
            parts = name.split(".")
            if parts[0] != "shadowzarr" or len(parts) < 2:
                continue
            target = parts[1]
            is_public_name = (
                not (ROOT / "shadowzarr" / target).exists()
                and not (ROOT / "shadowzarr" / f"{target}.py").exists()
            )
            if target not in allowed and not is_public_name:
                wrong.append(f"{file.relative_to(ROOT)}: {name}")
    assert wrong == []


def test_every_layer_is_listed():
    found = {p.stem for p in (ROOT / "shadowzarr").iterdir() if p.suffix == ".py" or p.is_dir()}
    assert found - {"__init__", "__pycache__", "py"} - {"__main__"} <= set(MAY_IMPORT)


def test_the_library_knows_nothing_of_the_pipeline():
    wrong = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in files("shadowzarr")
        for name in imports(file)
        if name.split(".")[0] in PIPELINE
    ]
    assert wrong == []


def test_tasks_know_nothing_of_flows():
    assert [f for f in files("tasks") if any(n.split(".")[0] == "flows" for n in imports(f))] == []


# Some of the recordings that NEO reads are HDF5 files, and referenced as those are.
MAY_USE = {"neo_rawio": {"hdf5"}}


def test_one_format_knows_nothing_of_another():
    formats = {p.name for p in (ROOT / "shadowzarr" / "formats").iterdir() if p.is_dir()}
    for own in formats:
        for file in files(f"shadowzarr/formats/{own}"):
            for name in imports(file):
                other = name.removeprefix("shadowzarr.formats.").split(".")[0]
                foreign = formats - {own} - MAY_USE.get(own, set())
                assert not (name.startswith("shadowzarr.formats.") and other in foreign), (file, name)
