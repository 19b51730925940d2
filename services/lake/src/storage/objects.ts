// The folder or bucket that holds the lake. Objects are replaced whole, so a read returns one complete version.

export type StoredObject = { key: string; bytes: number; changedAt: number };

export type ObjectStore = {
  get(key: string): Promise<Uint8Array | undefined>;
  // Bytes from `start` to `end`, exclusive.
  getRange(key: string, start: number, end: number): Promise<Uint8Array | undefined>;
  // Resolves when the object is on disk, or in the bucket.
  put(key: string, body: Uint8Array): Promise<void>;
  // Returns false if the object exists: of several writers, one wins.
  putIfAbsent(key: string, body: Uint8Array): Promise<boolean>;
  // All objects whose keys start with the prefix, in order of their keys.
  list(prefix: string): AsyncIterable<StoredObject>;
  // Succeeds if the object does not exist.
  delete(key: string): Promise<void>;
  // A local file with the object's content, for DuckDB. Undefined if the object does not exist.
  locate(key: string): Promise<string | undefined>;
  // Its address for others who can read the folder or the bucket. The object need not exist.
  locationOf(key: string): Promise<string>;
  // Stores the content of a local file, and removes the file.
  putFile(key: string, path: string): Promise<void>;
};

const keyShape = /^[A-Za-z0-9_=.-]+(?:\/[A-Za-z0-9_=.-]+)*$/;

// Keys become paths and URLs, so they must not point anywhere else.
export function checkKey(key: string): string {
  if (!keyShape.test(key) || key.split('/').some(lakeTable => lakeTable.startsWith('.')) || key.length > 900)
    throw new TypeError(`"${key}" is not a valid object key in the lake`);
  return key;
}

// Escapes a name for use in a key.
export const keyPart = (text: string): string =>
  text.replace(/[^A-Za-z0-9_-]/g, character => `=${character.codePointAt(0)!.toString(16)}=`);

// A file that was replaced after the manifest was read. Reading the manifest again helps.
export class GoneError extends Error {
  override readonly name = 'GoneError';
}
