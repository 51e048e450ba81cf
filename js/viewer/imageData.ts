// Frames of image stacks: which axis is which, reading one frame, and its pixels.

import type { Box } from "./boxes.js";
import type { ArrayReader, ChunkedArray } from "./chunkedArray.js";
import { UnsortedError } from "./search.js";
import { timeAxisOf, type TimeAxis } from "./timeAxis.js";
import { childOf, shapeOf, textAttribute } from "./tree.js";

/** Which axes of an array are which. */
export interface StackAxes {
  /** Number of frames; 1 for an image without that axis. */
  frames: number;
  hasFrames: boolean;
  /** Lengths of the two axes of an image, in the array's order. */
  sides: [number, number];
  /** Number of planes; 1 for an array without that axis. */
  planes: number;
  hasPlanes: boolean;
  /** Numbers of a pixel: 1, or 3 or 4 for red, green, blue and how opaque it is. */
  colours: number;
}

/** An image or a stack of them. */
export interface Stack {
  data: ChunkedArray;
  axes: StackAxes;
  /** When frames were taken; undefined for an image. */
  axis: TimeAxis | undefined;
}

/** One frame. */
export interface Frame {
  /** Stored numbers, along the first side, the second side and colours, in C order. */
  values: ArrayLike<unknown>;
  sides: [number, number];
  colours: number;
}

const DEPTHS = new Set(["OnePhotonSeries", "TwoPhotonSeries"]); // whose fourth axis is never one of colours

/**
 * Tell axes apart.
 *
 * @param hasFrames - Whether the first axis is one of frames.
 * @param mayHaveColours - Whether a last axis of 3 or 4 is one of colours.
 */
export function stackAxes(shape: readonly number[], hasFrames: boolean, mayHaveColours: boolean): StackAxes {
  const rest = hasFrames ? shape.slice(1) : [...shape];
  const isColoured = mayHaveColours && rest.length > 2 && (rest.at(-1) === 3 || rest.at(-1) === 4);
  const colours = isColoured ? rest.pop()! : 1;
  const [first, second, planes, ...more] = rest;
  if (first === undefined || second === undefined || more.length > 0) {
    throw new Error(`an array of the shape [${shape.join(", ")}] is no stack of images`);
  }
  return {
    frames: hasFrames ? shape[0]! : 1,
    hasFrames,
    sides: [first, second],
    planes: planes ?? 1,
    hasPlanes: planes !== undefined,
    colours,
  };
}

/** Read what is needed to know a stack: of its frames nothing. */
export async function openStack(reader: ArrayReader, path: string, signal?: AbortSignal): Promise<Stack> {
  const { store } = reader;
  const isImage = shapeOf(store, path) !== undefined;
  const place = isImage ? path : childOf(store, path, "data");
  const shape = place === undefined ? undefined : shapeOf(store, place);
  if (place === undefined || shape === undefined) throw new Error(`/${path} has no images`);
  if (shape.includes(0)) {
    const outside =
      childOf(store, path, "external_file") === undefined ? "" : "; they are in other files (external_file)";
    throw new Error(`/${path} has no images in this file${outside}`);
  }
  const type = textAttribute(store.attributes(path), "neurodata_type") ?? "";
  const data = await reader.open(place);
  const axes = stackAxes(shape, !isImage, !DEPTHS.has(type));
  const axis = isImage ? undefined : await timeAxisOf(reader, path, axes.frames, signal);
  return { data, axes, axis };
}

/** The part of the array that a frame is. */
export function boxOf({ data, axes }: Stack, frame: number, plane: number): Box {
  const start = data.shape.map(() => 0);
  const stop = [...data.shape];
  const fix = (axis: number, at: number) => {
    start[axis] = at;
    stop[axis] = at + 1;
  };
  if (axes.hasFrames) fix(0, frame);
  if (axes.hasPlanes) fix(axes.hasFrames ? 3 : 2, plane);
  return { start, stop };
}

/** Read one frame. */
export async function readFrame(stack: Stack, frame: number, plane: number, signal?: AbortSignal): Promise<Frame> {
  const values = await stack.data.box(boxOf(stack, frame, plane), signal);
  return { values, sides: stack.axes.sides, colours: stack.axes.colours };
}

/** When a frame was taken; undefined when the file does not say it in a way that can be used. */
export async function timeOf({ axis }: Stack, frame: number, signal?: AbortSignal): Promise<number | undefined> {
  if (axis === undefined || axis.note !== undefined || frame >= axis.length) return undefined;
  try {
    return (await axis.times(frame, frame + 1, signal))[0];
  } catch (error) {
    if (error instanceof UnsortedError) return undefined;
    throw error;
  }
}

/** Least and greatest number of a frame, how opaque pixels are left out; undefined when all are no numbers. */
export function rangeOf({ values, colours }: Frame): [number, number] | undefined {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    if (colours === 4 && i % 4 === 3) continue;
    const value = Number(values[i]);
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : undefined;
}

/**
 * How a frame is laid out on the screen.
 *
 * `across`: the first side goes from left to right and the second down, as NWB has it (width, height). `down`: the
 * first side goes down, as images of rows do.
 */
export type FirstSide = "across" | "down";

/** Width and height on the screen. */
export function screenSize({ sides }: Pick<Frame, "sides">, first: FirstSide): [number, number] {
  return first === "across" ? [sides[0], sides[1]] : [sides[1], sides[0]];
}

/** Which element of a frame a pixel starts at. */
export function elementAt({ sides, colours }: Frame, x: number, y: number, first: FirstSide): number {
  return (first === "across" ? x * sides[1] + y : y * sides[1] + x) * colours;
}

/**
 * Pixels of a frame: red, green, blue, opacity of each, row after row.
 *
 * @param low - The number that is black.
 * @param high - The number that is white.
 * @returns Numbers that are not finite are left transparent.
 */
export function pixelsOf(frame: Frame, first: FirstSide, low: number, high: number): Uint8ClampedArray<ArrayBuffer> {
  const [width, height] = screenSize(frame, first);
  const pixels = new Uint8ClampedArray(4 * width * height);
  const scale = high > low ? 255 / (high - low) : 0;
  const { values, colours } = frame;
  const isFloat = values instanceof Float32Array || values instanceof Float64Array;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) {
      const element = elementAt(frame, x, y, first);
      let isFinite = true;
      for (let colour = 0; colour < 3; colour++) {
        const value = Number(values[element + (colours === 1 ? 0 : colour)]);
        isFinite &&= Number.isFinite(value);
        pixels[at + colour] = scale === 0 ? (value >= high ? 255 : 0) : (value - low) * scale;
      }
      // Of integers 255 is opaque, of floats 1.
      const opacity = colours === 4 ? Number(values[element + 3]) * (isFloat ? 255 : 1) : 255;
      pixels[at + 3] = isFinite ? opacity : 0;
    }
  }
  return pixels;
}
