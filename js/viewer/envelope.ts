// Least and greatest value of each column of pixels, so that a line of any number of samples is drawn by two points a
// column and no peak is lost. Pure.

/** Points of several lines over the same places; null breaks a line. */
export interface Points {
  x: number[];
  lines: (number | null)[][];
}

/** The part of a recording from one place on the x axis up to but not with another, cut into columns. */
export interface Columns {
  from: number;
  to: number;
  count: number;
}

/** The column of a place; -1 outside. */
export function columnOf(x: number, { from, to, count }: Columns): number {
  const column = Math.floor(((x - from) / (to - from)) * count);
  return column >= 0 && column < count ? column : -1;
}

/**
 * Gathers samples by column, stretch after stretch.
 *
 * Values that are not finite count as samples and are not drawn, so that a column of nothing else is a gap.
 */
export class Envelope {
  readonly #low: Float64Array[];
  readonly #high: Float64Array[];
  /** Whether the least value came before the greatest. */
  readonly #isLowFirst: Uint8Array[];
  readonly #samples: Uint32Array;
  /** The stretch in which a column's last sample was. */
  readonly #stretch: Int32Array;

  constructor(
    readonly columns: Columns,
    lines: number,
  ) {
    const filled = () => Array.from({ length: lines }, () => new Float64Array(columns.count).fill(Number.NaN));
    this.#low = filled();
    this.#high = filled();
    this.#isLowFirst = Array.from({ length: lines }, () => new Uint8Array(columns.count));
    this.#samples = new Uint32Array(columns.count);
    this.#stretch = new Int32Array(columns.count);
  }

  /**
   * Say where samples are, once for all lines.
   *
   * @param times - Places on the x axis, ascending.
   * @param stretch - Number of the stretch of samples without a gap between them.
   * @returns The column of each, -1 outside.
   */
  place(times: ArrayLike<number>, stretch: number): Int32Array {
    return Int32Array.from(times, (x) => {
      const column = columnOf(x, this.columns);
      if (column >= 0) {
        this.#samples[column]!++;
        this.#stretch[column] = stretch;
      }
      return column;
    });
  }

  /** Add samples of one line at places that were told; `values[first + i * step]` is at `columns[i]`. */
  add(line: number, columns: Int32Array, values: ArrayLike<unknown>, first: number, step: number): void {
    const [low, high, isLowFirst] = [this.#low[line]!, this.#high[line]!, this.#isLowFirst[line]!];
    for (let i = 0, at = first; i < columns.length; i++, at += step) {
      const column = columns[i]!;
      const value = Number(values[at]);
      if (column < 0 || !Number.isFinite(value)) continue;
      if (!(value >= low[column]!)) {
        low[column] = value;
        isLowFirst[column] = 0;
      }
      if (!(value <= high[column]!)) {
        high[column] = value;
        isLowFirst[column] = 1;
      }
    }
  }

  /** At most two points a column; columns without a sample are passed over, and lines broken between stretches. */
  points(scale: (line: number, value: number) => number = (_, value) => value): Points {
    const { from, to, count } = this.columns;
    const width = (to - from) / count;
    const points: Points = { x: [], lines: this.#low.map(() => []) };
    let stretch: number | undefined;
    for (let column = 0; column < count; column++) {
      if (this.#samples[column] === 0) continue;
      const start = from + column * width;
      if (stretch !== undefined && stretch !== this.#stretch[column]) {
        points.x.push(start);
        for (const line of points.lines) line.push(null);
      }
      stretch = this.#stretch[column];
      points.x.push(start + width / 4, start + (3 * width) / 4);
      for (const [line, values] of points.lines.entries()) {
        const [low, high] = [this.#low[line]![column]!, this.#high[line]![column]!];
        if (Number.isNaN(low)) values.push(null, null);
        else {
          const pair = [scale(line, low), scale(line, high)];
          values.push(...(this.#isLowFirst[line]![column] === 1 ? pair : pair.reverse()));
        }
      }
    }
    return points;
  }
}
