// Selections: arrays stored together with bytes that do not belong to them (docs/format.md, "selections"). Pure.

import type { SelectionEntry } from "./document.js";
import type { FileRange } from "./answers.js";

/** Bytes of the array in one record. */
export function keptSize({ keep }: SelectionEntry): number {
  return keep.reduce((sum, [start, stop]) => sum + stop - start, 0);
}

/** Bytes of the array in a reference of `stored` bytes: whole records; of the last the kept bytes suffice. */
export function selectedLength(stored: number, selection: SelectionEntry): number {
  const records = Math.floor(stored / selection.record_size);
  const rest = stored % selection.record_size;
  const isWhole = rest >= Math.max(...selection.keep.map(([, stop]) => stop));
  return (records + (isWhole ? 1 : 0)) * keptSize(selection);
}

/** Which bytes of the file hold the first `length` bytes of a selected chunk whose records start at `offset`. */
export function selectedRange(offset: number, length: number, selection: SelectionEntry): FileRange {
  if (length <= 0) return { offset, length: 0 };
  const kept = keptSize(selection);
  const last = Math.floor((length - 1) / kept);
  let left = length - last * kept;
  let end = 0;
  for (const [start, stop] of selection.keep) {
    if (left <= 0) break;
    end = Math.max(end, Math.min(stop, start + left));
    left -= stop - start;
  }
  return { offset, length: last * selection.record_size + end };
}

/** The first `length` kept bytes out of what `selectedRange` said to read. */
export function takeSelected(data: Uint8Array, length: number, selection: SelectionEntry): Uint8Array {
  const result = new Uint8Array(length);
  let at = 0;
  for (let record = 0; at < length && record < data.length; record += selection.record_size) {
    for (const [start, stop] of selection.keep) {
      const part = data.subarray(record + start, Math.min(record + stop, record + start + length - at));
      result.set(part, at);
      at += part.length;
      if (at >= length) break;
    }
  }
  return result;
}
