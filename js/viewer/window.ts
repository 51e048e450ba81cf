// Moving a window over an axis: panning, zooming, staying within limits. Pure.

/** A part of an axis. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A span of the same width within limits; all of them when it is wider. */
export function within({ from, to }: Span, limits: Span): Span {
  const width = to - from;
  if (!(width < limits.to - limits.from)) return limits;
  if (from < limits.from) return { from: limits.from, to: limits.from + width };
  return to > limits.to ? { from: limits.to - width, to: limits.to } : { from, to };
}

/** A span from one place on, as wide as was asked for as far as there is room for that. */
export function startingAt(from: number, width: number, limits: Span, narrowest: number): Span {
  const start = Math.max(limits.from, Math.min(from, limits.to - narrowest));
  return { from: start, to: Math.min(limits.to, start + Math.max(narrowest, width)) };
}

/** A span moved by a part of its width. */
export function panned(span: Span, limits: Span, part: number): Span {
  const by = part * (span.to - span.from);
  return within({ from: span.from + by, to: span.to + by }, limits);
}

/**
 * A span made wider or narrower.
 *
 * @param factor - Of the width; below 1 shows more detail.
 * @param at - What stays where it is, from 0 for the start to 1 for the end.
 * @param narrowest - Width that it has at least.
 */
export function zoomed(span: Span, limits: Span, factor: number, at = 0.5, narrowest = 0): Span {
  const old = span.to - span.from;
  const width = Math.max(old * factor, Math.min(narrowest, old));
  const fixed = span.from + at * old;
  return within({ from: fixed - at * width, to: fixed + (1 - at) * width }, limits);
}

/** What a key asks for; undefined for another key. */
export function byKey(key: string, span: Span, limits: Span, narrowest: number): Span | undefined {
  const width = span.to - span.from;
  switch (key) {
    case "ArrowLeft":
      return panned(span, limits, -0.25);
    case "ArrowRight":
      return panned(span, limits, 0.25);
    case "PageUp":
      return panned(span, limits, -1);
    case "PageDown":
      return panned(span, limits, 1);
    case "Home":
      return within({ from: limits.from, to: limits.from + width }, limits);
    case "End":
      return within({ from: limits.to - width, to: limits.to }, limits);
    case "+":
    case "=":
      return zoomed(span, limits, 0.5, 0.5, narrowest);
    case "-":
      return zoomed(span, limits, 2);
  }
  return undefined;
}
