// Where the lake lies: a folder or a bucket. Objects are never changed in place, only replaced whole, and whoever
// reads one reads all of one version.

export type StoredObject = { key: string; bytes: number; changedAt: number };

export type ObjectStore = {
  get(key: string): Promise<Uint8Array | undefined>;
  // Bytes from `start` up to, and without, `end`.
  getRange(key: string, start: number, end: number): Promise<Uint8Array | undefined>;
  // On disk, or in the bucket, when it resolves.
  put(key: string, body: Uint8Array): Promise<void>;
  // False if there is an object of that name: of several writers, one wins.
  putIfAbsent(key: string, body: Uint8Array): Promise<boolean>;
  // Every object whose key begins with the prefix, in order of their keys.
  list(prefix: string): AsyncIterable<StoredObject>;
  // Of an object that is not there, too.
  delete(key: string): Promise<void>;
  // A file on this machine with the object's content, for whoever reads files only. Undefined if there is none.
  locate(key: string): Promise<string | undefined>;
  // Its address for others who can read the folder or the bucket, whether it is there or not.
  locationOf(key: string): Promise<string>;
  // The content of a file on this machine, which is gone afterwards.
  putFile(key: string, path: string): Promise<void>;
};

const keyShape = /^[A-Za-z0-9_=.-]+(?:\/[A-Za-z0-9_=.-]+)*$/;

// Keys become paths and addresses: none of them may lead anywhere else.
export function checkKey(key: string): string {
  if (!keyShape.test(key) || key.split('/').some(part => part.startsWith('.')) || key.length > 900)
    throw new TypeError(`"${key}" is no key for an object of the lake`);
  return key;
}

// A name that somebody chose, as a part of a key.
export const keyPart = (text: string): string =>
  text.replace(/[^A-Za-z0-9_-]/g, character => `=${character.codePointAt(0)!.toString(16)}=`);
