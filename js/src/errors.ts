// Every error that this library raises, in one tree with the names of the Python library. Messages never hold
// the query of a URL, which may sign it.

/** Base of all errors of this library. */
export class ShadowzarrError extends Error {
  override name = "ShadowzarrError";
  /** Whether the same call may succeed later without anything being changed. */
  transient = false;
}

/** The document is not a reference file system that can be read here. */
export class InvalidReferencesError extends ShadowzarrError {
  override name = "InvalidReferencesError";
}

/** The references need a codec or a data type that is not decoded here. */
export class UnsupportedError extends ShadowzarrError {
  override name = "UnsupportedError";
}

/** The bytes that came do not decode to what they should be. */
export class DamagedSourceError extends ShadowzarrError {
  override name = "DamagedSourceError";
}

/** A file is not the one that the references were made from. */
export class SourceChangedError extends ShadowzarrError {
  override name = "SourceChangedError";
}

/** Bytes could not be had. */
export class ReadError extends ShadowzarrError {
  override name = "ReadError";
  /** The HTTP status, when there was one. */
  status?: number;

  constructor(message: string, options: ErrorOptions & { status?: number } = {}) {
    super(message, options);
    this.status = options.status;
  }
}

/** Nothing is at the place that a reference names. */
export class SourceNotFoundError extends ReadError {
  override name = "SourceNotFoundError";
}

/** The server refuses the bytes (401 or 403). */
export class AccessDeniedError extends ReadError {
  override name = "AccessDeniedError";
}

/** Fewer bytes came than were asked for. */
export class ShortReadError extends ReadError {
  override name = "ShortReadError";
}

/** The read failed in a way that may pass: 429, 5xx, a broken connection. */
export class TransientReadError extends ReadError {
  override name = "TransientReadError";
  override transient = true;
  /** Seconds that the server asks to wait. */
  retryAfter?: number;

  constructor(message: string, options: ErrorOptions & { status?: number; retryAfter?: number } = {}) {
    super(message, options);
    this.retryAfter = options.retryAfter;
  }
}

/**
 * Nothing came of a page's request to another server, which a browser shows alike when there is no connection and
 * when the server does not let the page read.
 */
export class NoAnswerError extends ReadError {
  override transient = true;
}

/**
 * The same error, saying first what could not be read, once; one of another tree becomes a `ReadError`.
 *
 * A copy, because several who read together get the same error.
 */
export function named(error: unknown, what: string): unknown {
  if (error instanceof ShadowzarrError && error.message.startsWith(what)) return error;
  if (error instanceof ShadowzarrError) {
    const Kind = error.constructor as new (message: string, options: ErrorOptions) => ShadowzarrError;
    const { transient, status, retryAfter } = error as TransientReadError;
    return Object.assign(new Kind(`${what}: ${error.message}`, { cause: error }), { transient, status, retryAfter });
  }
  if (error instanceof Error && !(error instanceof DOMException)) {
    return new ReadError(`${what}: ${error.message}`, { cause: error });
  }
  return error; // whatever reason a signal was aborted with
}

/** A value as far as a message has room for it. */
export function shown(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, (_, item) => (typeof item === "bigint" ? String(item) : item));
  } catch {
    text = undefined;
  }
  text ??= typeof value;
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}
