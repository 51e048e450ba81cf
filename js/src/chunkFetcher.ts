// A chunk's place → the bytes that are stored there: which part of the file, selection, padding.

import { chunkNbytes, isUncompressed, neededNbytes, type ArrayLayout } from "./arrayLayout.js";
import type { ChunkLocation } from "./chunkIndex.js";
import type { ReferenceDocument, SelectionEntry } from "./document.js";
import { InvalidReferencesError, ShortReadError } from "./errors.js";
import type { Source } from "./answers.js";
import type { FileReader } from "./fileReader.js";
import type { RangeMerger } from "./merging.js";
import type { ChunkId } from "./nodes.js";
import { expandPlain, resolvePlace } from "./places.js";
import { selectedLength, selectedRange, takeSelected } from "./selection.js";

/** Reads the stored bytes of chunks. */
export class ChunkFetcher {
  readonly #sources = new Map<string, Source>();
  readonly #selections: Readonly<Record<string, SelectionEntry>>;

  /** @param isValidating - Whether files have to be those that `sources` describes. */
  constructor(
    document: ReferenceDocument,
    folder: URL | undefined,
    private readonly reader: FileReader,
    private readonly merger: RangeMerger,
    isValidating: boolean,
  ) {
    this.#selections = document.selections ?? {};
    for (const [place, { size, etag }] of Object.entries((isValidating && document.sources) || {})) {
      const url = resolvedOrNothing(expandPlain(place, document.templates ?? {}), folder);
      if (url !== undefined) this.#sources.set(url, { size, etag });
    }
  }

  /** The stored bytes of a chunk; those of an uncompressed one at their full length. */
  async fetch({ path, coordinates }: ChunkId, location: ChunkLocation, layout: ArrayLayout, signal?: AbortSignal) {
    const { url, range } = location;
    const source = this.#sources.get(url);
    const selection = Object.hasOwn(this.#selections, path) ? this.#selections[path] : undefined;
    const whole = range === undefined ? await this.reader.read(url, undefined, { source, signal }) : undefined;
    const stored = range?.length ?? whole!.length;
    const available = selection === undefined ? stored : selectedLength(stored, selection);
    const needed = isUncompressed(layout) ? checkedLength(available, layout, coordinates) : available;
    const wanted =
      selection === undefined
        ? { offset: range?.offset ?? 0, length: needed }
        : selectedRange(range?.offset ?? 0, needed, selection);
    const data = whole?.subarray(0, wanted.length) ?? (await this.merger.read(url, wanted, source, signal));
    const bytes = selection === undefined ? data : takeSelected(data, needed, selection);
    return isUncompressed(layout) ? padded(bytes, layout) : bytes;
  }
}

/** An inline chunk of an uncompressed array at its full length. */
export function padInline(data: Uint8Array, layout: ArrayLayout, coordinates: readonly number[]): Uint8Array {
  if (!isUncompressed(layout)) return data;
  checkedLength(data.length, layout, coordinates);
  return padded(data, layout);
}

function padded(bytes: Uint8Array, layout: ArrayLayout): Uint8Array {
  const nbytes = chunkNbytes(layout)!;
  if (bytes.length === nbytes) return bytes;
  const result = new Uint8Array(nbytes);
  result.set(bytes);
  return result;
}

/** How many of the bytes of an uncompressed chunk are read; the rest lies beyond the array. */
function checkedLength(available: number, layout: ArrayLayout, coordinates: readonly number[]): number {
  const nbytes = chunkNbytes(layout)!;
  const needed = neededNbytes(layout, coordinates);
  if (available < needed) {
    throw new ShortReadError(
      `the references list ${available} bytes, but ${needed} of the chunk's ${nbytes} bytes lie within the array; ` +
        "generate the references again",
    );
  }
  if (available > nbytes) {
    throw new InvalidReferencesError(
      `the references list ${available} bytes, but an uncompressed chunk of this array has ${nbytes}; generate the ` +
        "references again",
    );
  }
  return Math.min(needed, available);
}

/** A source that is not read here needs no check. */
function resolvedOrNothing(place: string, folder: URL | undefined): string | undefined {
  try {
    return resolvePlace(place, folder);
  } catch {
    return undefined;
  }
}
