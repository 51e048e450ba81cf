"""A raw binary recording, references to it put together by hand, and what numpy maps of it.

Between them its arrays have every part of a document that says where a chunk is: rules, a selection, an
index, references one by one with a codec, inline chunks, and chunks that are not stored.
"""

import zlib

import numpy as np

from shadowzarr import RfsBuilder, write_rfs

HEADER = 100
ROWS, COLUMNS, KEPT = 600, 8, 6


def write_raw(folder):
    """Write the recording and references to it; gives the references' path and the arrays."""
    path = folder / "run.bin"
    samples = np.arange(ROWS * COLUMNS, dtype="<i2").reshape(ROWS, COLUMNS)
    image = ((np.arange(60.0).reshape(6, 10) - 30) / 7).astype(">f4")
    packed = [zlib.compress(image[:, at : at + 5].tobytes()) for at in (0, 5)]
    counts = np.arange(1, 41, dtype="<u4")
    places = [HEADER + samples.nbytes]
    for part in packed:
        places.append(places[-1] + len(part))
    path.write_bytes(bytes(HEADER) + samples.tobytes() + b"".join(packed) + counts.tobytes())

    builder, url = RfsBuilder(), str(path)
    _add_samples(builder, url)
    builder.add_array(
        "image",
        shape=[6, 10],
        data_type="float32",
        chunk_shape=[6, 5],
        codecs=[
            {"name": "bytes", "configuration": {"endian": "big"}},
            {"name": "numcodecs.zlib", "configuration": {"level": 1}},
        ],
        dimension_names=["row", "column"],
    )
    for number, part in enumerate(packed):
        builder.add_chunk("image", (0, number), url, places[number], len(part))
    builder.add_array("more/counts", shape=[40], data_type="uint32", chunk_shape=[4])
    builder.add_index("more/counts", url, _index(places[2], chunks=10, nbytes=16))
    builder.add_array("more/gaps", shape=[12], data_type="int32", chunk_shape=[4], fill_value=-1)
    builder.add_inline_chunk("more/gaps", (1,), np.arange(4, dtype="<i4").tobytes())
    builder.add_source(url, path.stat().st_size)
    builder.add_skipped("/odd", "dataset", "it has no form")
    write_rfs(builder.build(), folder / "refs")
    return folder / "refs", arrays_of(path, image, places[2])


def arrays_of(path, image, counts_at):
    """What the references must give."""
    samples = np.memmap(path, "<i2", "r", HEADER, (ROWS, COLUMNS))
    gaps = np.full(12, -1, "<i4")
    gaps[4:8] = range(4)
    return {
        "samples": samples,
        "kept": samples[:, :KEPT],
        "image": image,
        "more/counts": np.memmap(path, "<u4", "r", counts_at, (40,)),
        "more/gaps": gaps,
        "odd": np.zeros(3),
    }


def _add_samples(builder, url):
    row = COLUMNS * 2
    builder.add_array("samples", shape=[ROWS, COLUMNS], data_type="int16", chunk_shape=[100, COLUMNS])
    builder.add_contiguous_chunks(
        "samples", url=url, start=HEADER, shape=[ROWS, COLUMNS], chunk_shape=[100, COLUMNS], itemsize=2
    )
    builder.add_array("kept", shape=[ROWS, KEPT], data_type="int16", chunk_shape=[200, KEPT])
    builder.add_selection("kept", row, [[0, KEPT * 2]])
    builder.add_contiguous_chunks(
        "kept",
        url=url,
        start=HEADER,
        shape=[ROWS, KEPT],
        chunk_shape=[200, KEPT],
        itemsize=2,
        row_bytes=row,
    )


def _index(start, *, chunks, nbytes):
    index = np.empty((chunks, 2), np.uint64)
    index[:, 0] = start + np.arange(chunks, dtype=np.uint64) * np.uint64(nbytes)
    index[:, 1] = nbytes
    return index
