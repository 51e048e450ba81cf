// What went wrong, in words, and what to do about it.

import {
  AccessDeniedError,
  DamagedSourceError,
  InvalidReferencesError,
  ShadowzarrError,
  ShortReadError,
  SourceChangedError,
  SourceNotFoundError,
  TransientReadError,
  UnsupportedError,
} from "../src/index.js";
import { NoAnswerError } from "../src/errors.js";

type Kind = abstract new (...parameters: never[]) => Error;

/** Remedies by kind of error; the first that fits counts. */
const REMEDIES: [Kind, string][] = [
  [
    SourceChangedError,
    "The file is not the one that was indexed. Whoever keeps this catalogue has to index it again; until then its " +
      "values cannot be trusted and none are shown.",
  ],
  [UnsupportedError, "A page cannot read it. Read it in Python: shadowzarr.open_rfs."],
  [SourceNotFoundError, "The file is no longer where the references say. It has to be indexed again."],
  [AccessDeniedError, "The archive does not show this file to everyone. Read it in Python, with your credentials."],
  [ShortReadError, "The file is shorter than when it was indexed, or the connection broke off. Try again."],
  [DamagedSourceError, "The bytes that came are not those of the dataset. Try again; if it lasts, verify the file."],
  [InvalidReferencesError, "The references have to be made again."],
  [
    NoAnswerError,
    "If there is a network, the file's server has to allow it (CORS: send Access-Control-Allow-Origin, and expose " +
      "Content-Range).",
  ],
  [TransientReadError, "Try again in a while."],
];

/** An error as a sentence for the reader, and what can be done. */
export function problemText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const remedy = REMEDIES.find(([kind]) => error instanceof kind)?.[1];
  const name = error instanceof ShadowzarrError ? `${error.name}: ` : "";
  return `Cannot be shown. ${name}${message}${/[.!?]$/.test(message) ? "" : "."}${remedy === undefined ? "" : ` ${remedy}`}`;
}
