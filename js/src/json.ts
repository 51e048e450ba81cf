// JSON in which NaN and infinities may be bare words, as older writers have them, and in which whole numbers that
// a JavaScript number cannot hold are bigints. Reading takes the browser's own parser wherever that gives the
// same.

/** A value of JSON, with bigint for whole numbers beyond 2^53. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

const MOST_DEPTH = 500;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const WORDS: Record<string, Json> = {
  null: null,
  true: true,
  false: false,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
};
const WORD = /-?[A-Za-z]+/y;

/**
 * Parse JSON.
 *
 * @param isExact - Whether whole numbers beyond 2^53 become bigints; else they are rounded, which is quicker.
 * @throws SyntaxError when it is none.
 */
export function parseJson(text: string, isExact = true): Json {
  if (!isExact || !/\d{16}/.test(text)) {
    try {
      return JSON.parse(text) as Json;
    } catch {
      // A bare NaN, or no JSON at all: the parser below tells which.
    }
  }
  return new Parser(text).whole();
}

/** JSON of a value that may hold bigints; numbers that are not finite are refused. */
export function writeJson(value: Json): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(writeJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const parts = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${writeJson(item)}`);
    return `{${parts.join(",")}}`;
  }
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError(`${value} is not JSON`);
  return JSON.stringify(value);
}

/** Whether a value is an object of JSON. */
export function isObject(value: unknown): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is nested more deeply than functions that call themselves go through it. */
export function isTooDeep(value: Json): boolean {
  let layer: Json[] = [value];
  for (let depth = 0; layer.length > 0; depth++) {
    if (depth > MOST_DEPTH) return true;
    layer = layer.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
  }
  return false;
}

class Parser {
  #at = 0;
  #depth = 0;

  constructor(private readonly text: string) {}

  whole(): Json {
    const value = this.#value();
    this.#space();
    if (this.#at !== this.text.length) throw this.#wrong();
    return value;
  }

  #value(): Json {
    this.#space();
    const first = this.text[this.#at];
    if (first === '"') return this.#string();
    if (first === "{" || first === "[") {
      if (++this.#depth > MOST_DEPTH) throw new SyntaxError("nested too deeply to be read");
      const value = first === "{" ? this.#object() : this.#list();
      this.#depth--;
      return value;
    }
    WORD.lastIndex = this.#at;
    const word = WORD.exec(this.text)?.[0];
    if (word !== undefined && Object.hasOwn(WORDS, word)) {
      this.#at += word.length;
      return WORDS[word]!;
    }
    return this.#number();
  }

  #number(): Json {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.text);
    if (match === null) throw this.#wrong();
    this.#at += match[0].length;
    const number = Number(match[0]);
    const isWhole = match[1] === undefined && match[2] === undefined;
    return isWhole && !Number.isSafeInteger(number) ? BigInt(match[0]) : number;
  }

  #string(): string {
    let end = this.#at + 1;
    while (this.text[end] !== '"') {
      if (end >= this.text.length) throw this.#wrong();
      end += this.text[end] === "\\" ? 2 : 1;
    }
    const value = JSON.parse(this.text.slice(this.#at, end + 1)) as string;
    this.#at = end + 1;
    return value;
  }

  #list(): Json[] {
    const items: Json[] = [];
    this.#at++;
    if (this.#take("]")) return items;
    do items.push(this.#value());
    while (this.#take(","));
    if (!this.#take("]")) throw this.#wrong();
    return items;
  }

  #object(): Json {
    const parts: [string, Json][] = [];
    this.#at++;
    if (this.#take("}")) return {};
    do {
      this.#space();
      if (this.text[this.#at] !== '"') throw this.#wrong();
      const key = this.#string();
      if (!this.#take(":")) throw this.#wrong();
      parts.push([key, this.#value()]);
    } while (this.#take(","));
    if (!this.#take("}")) throw this.#wrong();
    return Object.fromEntries(parts);
  }

  #take(mark: string): boolean {
    this.#space();
    if (this.text[this.#at] !== mark) return false;
    this.#at++;
    return true;
  }

  #space(): void {
    while (/[ \t\n\r]/.test(this.text[this.#at] ?? "")) this.#at++;
  }

  #wrong(): SyntaxError {
    const found = this.text.slice(this.#at, this.#at + 20);
    return new SyntaxError(found ? `unexpected ${JSON.stringify(found)} at ${this.#at}` : "it ends too early");
  }
}
