"""DMR++ of an HDF5 file: what a server of OPeNDAP writes beside it, for plain numbers.

The form is that of OPeNDAP's DMR++ (``http://xml.opendap.org/dap/dmrpp/1.0.0#``), as far as VirtualiZarr's
parser reads it.
"""

from pathlib import Path
from xml.sax.saxutils import quoteattr

import h5py
import numpy as np

_TYPES = {"i4": "Int32", "f4": "Float32", "f8": "Float64", "i2": "Int16"}


def dmrpp_of(path: Path, names: list[str]) -> str:
    """The document for some datasets of the root group."""
    with h5py.File(path) as file:
        parts = [_variable(file[name]) for name in names]
    return "\n".join(
        [
            '<?xml version="1.0" encoding="ISO-8859-1"?>',
            '<Dataset xmlns="http://xml.opendap.org/ns/DAP/4.0#"',
            ' xmlns:dmrpp="http://xml.opendap.org/dap/dmrpp/1.0.0#"',
            f' dapVersion="4.0" dmrVersion="1.0" name={quoteattr(path.name)}',
            f" dmrpp:href={quoteattr(f'file://{path}')}>",
            *parts,
            "</Dataset>",
        ]
    )


def _variable(dataset: h5py.Dataset) -> str:
    kind = _TYPES[np.dtype(dataset.dtype).newbyteorder("=").str[1:]]
    order = "BE" if dataset.dtype.byteorder == ">" else "LE"
    dims = "".join(f'<Dim size="{extent}"/>' for extent in dataset.shape)
    if dataset.chunks is None:
        offset, nbytes = dataset.id.get_offset(), dataset.id.get_storage_size()
        chunks = f'<dmrpp:chunk offset="{offset}" nBytes="{nbytes}"/>'
        head = f'<dmrpp:chunks byteOrder="{order}">'
    else:
        edges = " ".join(map(str, dataset.chunks))
        found = [dataset.id.get_chunk_info(number) for number in range(dataset.id.get_num_chunks())]
        chunks = "".join(
            f'<dmrpp:chunk offset="{each.byte_offset}" nBytes="{each.size}" '
            f'chunkPositionInArray="[{",".join(map(str, each.chunk_offset))}]"/>'
            for each in found
        )
        filters = "shuffle deflate" if dataset.shuffle else "deflate"
        head = (
            f'<dmrpp:chunks compressionType="{filters}" deflateLevel="4" byteOrder="{order}">'
            f"<dmrpp:chunkDimensionSizes>{edges}</dmrpp:chunkDimensionSizes>"
        )
    name = quoteattr(dataset.name.strip("/"))
    return f"<{kind} name={name}>{dims}{head}{chunks}</dmrpp:chunks></{kind}>"
