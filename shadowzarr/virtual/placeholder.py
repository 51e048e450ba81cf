"""Placeholder: what stands for a virtual array where hdmf wants data. Needs hdmf.

hdmf takes an ``AbstractDataChunkIterator`` for data that is written piece by piece. This one has no piece, so
hdmf-zarr (0.14, ``ZarrIO.write_dataset``) writes the metadata of the array and no chunk, and nothing is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, Self

from hdmf.data_utils import AbstractDataChunkIterator

from ..errors import NeedsDataError

if TYPE_CHECKING:
    from ..refs.data_types import DType
    from .array import VirtualArray


class Placeholder(AbstractDataChunkIterator):  # type: ignore[misc]  # hdmf has no types
    """Stands for a virtual array.

    Parameters
    ----------
    array : VirtualArray
        What it stands for.

    Attributes
    ----------
    array : VirtualArray
        What it stands for.
    """

    def __init__(self, array: VirtualArray) -> None:
        self.array = array

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        return self.array.shape

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """Elements of a chunk along each axis."""
        return self.array.chunk_shape

    @property
    def dtype(self) -> DType:
        """The numpy data type, in the byte order of the files."""
        return self.array.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.array.ndim

    @property
    def maxshape(self) -> tuple[int, ...]:
        """Elements along each axis: it does not grow."""
        return self.array.shape

    def recommended_chunk_shape(self) -> tuple[int, ...]:
        """The chunk shape, for hdmf."""
        return self.array.chunk_shape

    def recommended_data_shape(self) -> tuple[int, ...]:
        """The shape, for hdmf."""
        return self.array.shape

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> NoReturn:
        raise StopIteration

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise NeedsDataError("a placeholder holds no data; write_virtual_nwb references it")

    def __repr__(self) -> str:
        return f"<Placeholder of {self.array!r}>"
