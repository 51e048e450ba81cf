// Finding a place in ascending numbers that lie in chunks, by reading as few of them as possible. Pure but for what it
// is given to read by.

/** Numbers that should ascend, and do not. */
export class UnsortedError extends Error {
  override name = "UnsortedError";

  /** @param row - The first one that is not at least the one before it, or is no number. */
  constructor(readonly row: number) {
    super(`numbers go back at row ${row}`);
  }
}

/** Ascending numbers, the part of an array from `start` to `stop`. */
export interface SortedNumbers {
  readonly start: number;
  readonly stop: number;
  /** Elements of a chunk. */
  readonly chunkLength: number;
  /** Elements from one place to another, which lie in one chunk. */
  read(start: number, stop: number, signal?: AbortSignal): Promise<ArrayLike<number>>;
}

const GUESSES = 2; // by interpolation; after them halving is sure to end

/**
 * Find the first place whose number is at least a wanted one; `stop` when there is none.
 *
 * @param expected - About where, from 0 for the start to 1 for the stop.
 * @throws UnsortedError when what was read on the way does not ascend.
 */
export async function firstAtLeast(
  numbers: SortedNumbers,
  wanted: number,
  { expected = 0.5, signal }: { expected?: number; signal?: AbortSignal } = {},
): Promise<number> {
  const { start, stop, chunkLength } = numbers;
  if (start >= stop) return stop;
  let low = Math.floor(start / chunkLength); // the place is in this chunk or after it
  let high = Math.floor((stop - 1) / chunkLength); // and in this one or before it, or just after it
  let guess = Math.floor((start + clamp(expected, 0, 1) * (stop - 1 - start)) / chunkLength);
  for (let round = 0; ; round++) {
    const middle = clamp(round < GUESSES ? guess : Math.floor((low + high) / 2), low, high);
    const [from, to] = [Math.max(start, middle * chunkLength), Math.min(stop, (middle + 1) * chunkLength)];
    const found = await numbers.read(from, to, signal);
    checkAscending(found, from);
    const place = countBelow(found, wanted);
    if (place > 0 && place < found.length) return from + place;
    if (place === 0) {
      if (middle === low) return from;
      high = middle - 1;
      guess = high;
    } else {
      if (middle === high) return to;
      low = middle + 1;
      guess = low;
    }
  }
}

/** How many of some ascending numbers are below one. */
export function countBelow(numbers: ArrayLike<number>, wanted: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @throws UnsortedError unless each is at least the one before it. */
export function checkAscending(numbers: ArrayLike<number>, firstRow: number): void {
  for (let i = 0; i < numbers.length; i++) {
    const isRight = i === 0 ? !Number.isNaN(numbers[0]) : numbers[i]! >= numbers[i - 1]!;
    if (!isRight) throw new UnsortedError(firstRow + i);
  }
}

/** The next greater number. */
export function nextAfter(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  const bits = new BigInt64Array(new Float64Array([value]).buffer);
  bits[0]! += value > 0 ? 1n : -1n;
  return new Float64Array(bits.buffer)[0]!;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
