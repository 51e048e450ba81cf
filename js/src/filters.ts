// Array-to-array codecs other than `transpose`, which TIFF's predictor and bit order become. They see values in the
// chunk's shape. Pure.

import { product, type ArrayLayout, type CodecEntry } from "./arrayLayout.js";
import { reversedBits } from "./codecs/tiff.js";
import { UnsupportedError, shown } from "./errors.js";

const INTEGERS = /^u?int(8|16|32|64)$/;

/** Undo the array-to-array codecs of an array on the bytes of a chunk, little-endian. */
export function undoFilters(bytes: Uint8Array, layout: ArrayLayout): Uint8Array {
  const isTurned = layout.axes.some((axis, place) => axis !== place);
  let values = bytes;
  for (const codec of [...layout.filters].reverse()) {
    if (isTurned) throw new UnsupportedError(`it needs the codec ${codec.name} of transposed values`);
    values = undo(values, codec, layout);
  }
  return values;
}

function undo(bytes: Uint8Array, { name, configuration }: CodecEntry, layout: ArrayLayout): Uint8Array {
  if (name === "imagecodecs_bitorder" && layout.type.nbytes === 1) return reversedBits(bytes);
  if (name === "imagecodecs_delta") {
    const { axis = -1, dist = 1 } = configuration;
    const ndim = layout.chunkShape.length;
    const along = Number.isSafeInteger(axis) ? ((axis as number) + ndim) % ndim : -1;
    if (INTEGERS.test(layout.type.served) && along >= 0 && Number.isSafeInteger(dist) && (dist as number) >= 1) {
      return summed(bytes, layout, along, dist as number);
    }
  }
  throw new UnsupportedError(
    `it needs the codec ${name} (${shown(configuration)}, ${layout.type.served}), which has no decoder in JavaScript here`,
  );
}

/** Each value plus the one so many places before it along an axis, which is summed already. */
function summed(bytes: Uint8Array, { chunkShape, type }: ArrayLayout, axis: number, distance: number): Uint8Array {
  const result = bytes.slice();
  const Kind = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array }[type.nbytes!]!;
  const values = new Kind(result.buffer) as Uint8Array; // of the others too: sums wrap around in each
  const step = product(chunkShape.slice(axis + 1));
  const extent = chunkShape[axis]!;
  for (let start = 0; start < values.length; start += extent * step) {
    for (let i = start + distance * step; i < start + extent * step; i++) values[i]! += values[i - distance * step]!;
  }
  return result;
}
