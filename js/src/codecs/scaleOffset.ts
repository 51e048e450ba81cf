// HDF5's scale-offset filter (6) of integers: the bits of each value above a minimum, the highest first. Values of
// the filter: method, factor, elements, class (0 for integers), bytes of an element, sign, byte order (1 for big),
// whether there is a fill value, and that, in words of four bytes.

import { DamagedSourceError, InvalidReferencesError, UnsupportedError } from "../errors.js";
import { bytesAt, refuseMore, type Expected } from "./decoder.js";

const HEADER = 21;
const MINIMUM = 5; // where it is in the header
const FILL = 8; // where it is in the filter's values

/** Undo scale-offset, given the filter's client data values. */
export function scaleOffset(data: Uint8Array, values: readonly number[], expected: Expected): Uint8Array {
  const [, , count = 0, kind = -1, size = 0, , order = 0, hasFill = 0] = values;
  if (kind !== 0)
    throw new UnsupportedError("scale-offset of floating-point numbers has no decoder in JavaScript here");
  if (![1, 2, 4, 8].includes(size) || values.length < FILL) {
    throw new InvalidReferencesError(`scale-offset of integers of ${size} bytes`);
  }
  refuseMore(count * size, expected);
  const header = new DataView(bytesAt(data, 0, HEADER).slice().buffer);
  const width = header.getUint32(0, true);
  if (width > 8 * size) throw new DamagedSourceError(`it has ${width} bits for an element of ${size} bytes`);
  if (width === 8 * size) return inOrder(bytesAt(data, HEADER, count * size).slice(), size, order === 1);
  const packed = bytesAt(data, HEADER, Math.ceil((count * width) / 8));
  const mask = (1n << BigInt(8 * size)) - 1n;
  const minimum = header.getBigUint64(MINIMUM, true) & mask;
  const mark = hasFill ? (1n << BigInt(width)) - 1n : undefined;
  const fill = hasFill ? fillValue(values, size, order === 1) : 0n;
  const result = new Uint8Array(count * size);
  const view = new DataView(result.buffer);
  const isLittle = order !== 1;
  for (let i = 0; i < count; i++) {
    const found = bitsAt(packed, i * width, width);
    const value = found === mark ? fill : (found + minimum) & mask;
    if (size === 8) view.setBigUint64(8 * i, value, isLittle);
    else if (size === 4) view.setUint32(4 * i, Number(value), isLittle);
    else if (size === 2) view.setUint16(2 * i, Number(value), isLittle);
    else view.setUint8(i, Number(value));
  }
  return result;
}

/** Whole elements are stored little-endian, as the machines that wrote them. */
function inOrder(bytes: Uint8Array, size: number, isBig: boolean): Uint8Array {
  for (let at = 0; isBig && at < bytes.length; at += size) bytes.subarray(at, at + size).reverse();
  return bytes;
}

function bitsAt(data: Uint8Array, start: number, width: number): bigint {
  const end = start + width;
  let bits = 0n;
  for (let byte = start >> 3; byte < Math.ceil(end / 8); byte++) bits = (bits << 8n) | BigInt(data[byte]!);
  return (bits >> BigInt((8 - (end % 8)) % 8)) & ((1n << BigInt(width)) - 1n);
}

/** The fill value, whose bytes lie in the filter's values in the array's own byte order. */
function fillValue(values: readonly number[], size: number, isBig: boolean): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setUint32(0, values[FILL] ?? 0, true);
  view.setUint32(4, values[FILL + 1] ?? 0, true);
  let fill = 0n;
  for (let i = 0; i < size; i++) fill = (fill << 8n) | BigInt(view.getUint8(isBig ? i : size - 1 - i));
  return fill;
}
