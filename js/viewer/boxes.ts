// Which chunks a part of an array lies in, and taking the part out of them. Pure.

/** Elements of an array from `start` up to but not with `stop`, along each axis. */
export interface Box {
  readonly start: readonly number[];
  readonly stop: readonly number[];
}

/** Decoded elements of one chunk; `stride` counts elements. */
export interface Chunk {
  readonly data: ArrayLike<unknown>;
  readonly shape: readonly number[];
  readonly stride: readonly number[];
}

/** Coordinates of the chunks that a box touches, in C order. */
export function chunksOf(box: Box, chunkShape: readonly number[]): number[][] {
  let found: number[][] = [[]];
  for (const [axis, edge] of chunkShape.entries()) {
    const [first, last] = [Math.floor(box.start[axis]! / edge), Math.ceil(box.stop[axis]! / edge)];
    found = found.flatMap((coordinates) =>
      Array.from({ length: Math.max(0, last - first) }, (_, i) => [...coordinates, first + i]),
    );
  }
  return found;
}

/** Number of elements. */
export function sizeOf(box: Box): number {
  return box.start.reduce((size, start, axis) => size * Math.max(0, box.stop[axis]! - start), 1);
}

/**
 * Copy what a chunk has of a box.
 *
 * @param target - Elements of the box in C order; only those in the chunk are set.
 */
export function copyOverlap(chunk: Chunk, coordinates: readonly number[], box: Box, target: unknown[]): void {
  const axes = box.start.length;
  const origin = coordinates.map((at, axis) => at * chunk.shape[axis]!);
  const from = origin.map((at, axis) => Math.max(at, box.start[axis]!));
  const to = origin.map((at, axis) => Math.min(at + chunk.shape[axis]!, box.stop[axis]!));
  const steps: number[] = [];
  for (let axis = axes - 1, step = 1; axis >= 0; axis--) {
    steps[axis] = step;
    step *= box.stop[axis]! - box.start[axis]!;
  }
  const copy = (axis: number, source: number, goal: number) => {
    if (axis === axes) {
      target[goal] = chunk.data[source];
      return;
    }
    const [stride, step] = [chunk.stride[axis]!, steps[axis]!];
    let at = source + (from[axis]! - origin[axis]!) * stride;
    let into = goal + (from[axis]! - box.start[axis]!) * step;
    for (let i = from[axis]!; i < to[axis]!; i++, at += stride, into += step) {
      if (axis === axes - 1) target[into] = chunk.data[at];
      else copy(axis + 1, at, into);
    }
  };
  copy(0, 0, 0);
}
