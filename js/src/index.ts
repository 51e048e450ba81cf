// The public names, and nothing else.

export { decodeAttributes, type AttributeValue } from "./attributes.js";
export type { Complex, Value } from "./dataTypes.js";
export type { ReferenceDocument } from "./document.js";
export {
  AccessDeniedError,
  DamagedSourceError,
  InvalidReferencesError,
  ReadError,
  ShadowzarrError,
  ShortReadError,
  SourceChangedError,
  SourceNotFoundError,
  TransientReadError,
  UnsupportedError,
} from "./errors.js";
export type { Json } from "./json.js";
export { openArray, openGroup, openNode, readArray, type ReadOptions, type Values } from "./reading.js";
export { ReferenceStore, type ChunkPlace, type DocumentOptions, type StoreOptions } from "./referenceStore.js";
export type { RetryPolicy } from "./retries.js";
