// Gen entries: many evenly spaced references written as one rule (docs/format.md, "gen"). The parser knows integers,
// the dimensions' names, + - * // % and parentheses, so that a document cannot run code. A rule is evaluated for the
// chunk that is asked for. Pure.

import type { GenEntry } from "./document.js";
import { isCount } from "./document.js";
import { InvalidReferencesError, shown } from "./errors.js";

const MOST_CHARACTERS = 500;
const KEY = /^(?:(.*)\/)?c((?:\/[^/]+)*)$/s;
const NAME = /^\{\{\s*([\p{L}_][\p{L}\p{N}_]*)\s*\}\}$/u;
const TOKEN = /\s*(?:(\d+)|([\p{L}_][\p{L}\p{N}_]*)|(\/\/|[-+*%()]))/uy;

type Evaluate = (values: Readonly<Record<string, bigint>>) => bigint;

/** A rule that is ready to be evaluated. */
export class GenRule {
  /** The array whose chunks the rule gives. */
  readonly path: string;
  /** How many coordinates its chunks have. */
  readonly ndim: number;
  /** Where the file is, as the document has it. */
  readonly url: string;
  readonly #key: string;
  readonly #parts: (number | string)[];
  readonly #dimensions: [name: string, start: number, stop: number, step: number][];
  readonly #place: [offset: Evaluate, length: Evaluate] | undefined;

  /** @throws InvalidReferencesError when the rule cannot be understood. */
  constructor(entry: GenEntry) {
    this.#key = entry.key;
    this.url = entry.url;
    [this.path, this.#parts] = parseKey(entry.key);
    this.ndim = this.#parts.length;
    this.#dimensions = Object.entries(entry.dimensions).map(([name, { start = 0, stop, step = 1 }]) => [
      name,
      start,
      stop,
      step,
    ]);
    const names = this.#dimensions.map(([name]) => name);
    const used = new Set(this.#parts.filter((part) => typeof part === "string"));
    const stray = names.find((name) => !used.has(name)) ?? [...used].find((name) => !names.includes(name));
    if (stray !== undefined) {
      throw this.#wrong(`its key and its dimensions do not both have ${shown(stray)}`);
    }
    if (entry.offset !== undefined && entry.length !== undefined) {
      this.#place = [parseExpression(entry.offset, names), parseExpression(entry.length, names)];
    }
  }

  /**
   * Where a chunk is in the rule's file.
   *
   * @returns undefined when the rule does not reach the chunk; an empty list for the whole file.
   */
  at(coordinates: readonly number[]): [] | [offset: number, length: number] | undefined {
    const values: Record<string, bigint> = Object.create(null);
    if (coordinates.length !== this.ndim) return undefined;
    for (const [axis, part] of this.#parts.entries()) {
      const coordinate = coordinates[axis]!;
      if (
        typeof part === "number" ? part !== coordinate : (values[part] ??= BigInt(coordinate)) !== BigInt(coordinate)
      ) {
        return undefined;
      }
    }
    for (const [name, start, stop, step] of this.#dimensions) {
      const value = Number(values[name]);
      if (value < start || value >= stop || (value - start) % step !== 0) return undefined;
    }
    if (this.#place === undefined) return [];
    const [offset, length] = this.#place.map((evaluate) => evaluate(values)) as [bigint, bigint];
    const place: [number, number] = [Number(offset), Number(length)];
    if (!place.every(isCount) || !isCount(place[0] + place[1])) {
      throw this.#wrong(`it gives offset ${offset}, length ${length}`);
    }
    return place;
  }

  #wrong(what: string): InvalidReferencesError {
    return new InvalidReferencesError(`gen entry ${shown(this.#key)}: ${what}`);
  }
}

/** Value of an integer expression over names. */
export function evaluate(expression: string, values: Readonly<Record<string, bigint>>): bigint {
  return parseExpression(expression, Object.keys(values))(values);
}

function parseKey(key: string): [path: string, parts: (number | string)[]] {
  const match = KEY.exec(key);
  if (match === null) {
    throw new InvalidReferencesError(`gen entry ${shown(key)}: the key is not <array>/c/<coordinates>`);
  }
  const parts = match[2]!
    .split("/")
    .slice(1)
    .map((part) => {
      const name = NAME.exec(part)?.[1];
      if (name !== undefined) return name;
      if (/^\d+$/.test(part)) return Number(part);
      throw new InvalidReferencesError(
        `gen entry ${shown(key)}: ${shown(part)} is neither a number nor one dimension's name in braces`,
      );
    });
  return [match[1] ?? "", parts];
}

function parseExpression(template: string | number, names: readonly string[]): Evaluate {
  const text = String(template);
  const inner = /^\{\{(.*?)\}\}$/s.exec(text.trim())?.[1] ?? text;
  if (inner.length > MOST_CHARACTERS) {
    throw new InvalidReferencesError(`gen expression of ${inner.length} characters: too long`);
  }
  return new ExpressionParser(inner, names).whole();
}

/** sum = product (("+" | "-") product)*, and so on; the grammar is that of docs/format.md. */
class ExpressionParser {
  readonly #tokens: string[] = [];
  #at = 0;

  constructor(
    private readonly text: string,
    private readonly names: readonly string[],
  ) {
    TOKEN.lastIndex = 0;
    const trimmed = text.trimEnd();
    while (TOKEN.lastIndex < trimmed.length) {
      const match = TOKEN.exec(trimmed);
      if (match === null) throw this.#wrong();
      this.#tokens.push(match[1] ?? match[2] ?? match[3]!);
    }
  }

  whole(): Evaluate {
    const value = this.#sum();
    if (this.#at !== this.#tokens.length) throw this.#wrong();
    return value;
  }

  #sum(): Evaluate {
    return this.#chain(["+", "-"], () => this.#product());
  }

  #product(): Evaluate {
    return this.#chain(["*", "//", "%"], () => this.#unary());
  }

  #chain(operators: string[], next: () => Evaluate): Evaluate {
    let left = next();
    while (operators.includes(this.#tokens[this.#at] ?? "")) {
      const operate = this.#operator(this.#tokens[this.#at++]!);
      const [first, second] = [left, next()];
      left = (values) => operate(first(values), second(values));
    }
    return left;
  }

  #unary(): Evaluate {
    if (this.#tokens[this.#at] !== "-") return this.#atom();
    this.#at++;
    const value = this.#unary();
    return (values) => -value(values);
  }

  #atom(): Evaluate {
    const token = this.#tokens[this.#at++] ?? "";
    if (/^\d+$/.test(token)) {
      const number = BigInt(token);
      return () => number;
    }
    if (this.names.includes(token)) return (values) => values[token]!;
    if (token !== "(") throw this.#wrong();
    const value = this.#sum();
    if (this.#tokens[this.#at++] !== ")") throw this.#wrong();
    return value;
  }

  #operator(symbol: string): (left: bigint, right: bigint) => bigint {
    if (symbol === "+") return (left, right) => left + right;
    if (symbol === "-") return (left, right) => left - right;
    if (symbol === "*") return (left, right) => left * right;
    return (left, right) => {
      if (right === 0n) throw new InvalidReferencesError(`gen expression ${shown(this.text)} divides by zero`);
      const rest = ((left % right) + right) % right; // with the sign of the divisor
      return symbol === "%" ? rest : (left - rest) / right;
    };
  }

  #wrong(): InvalidReferencesError {
    return new InvalidReferencesError(
      `gen expression ${shown(this.text)}: only integers, ${this.names.join(", ") || "no names"}, ` +
        "+ - * // % and parentheses are allowed",
    );
  }
}
