import type { Context } from 'hono';
import { refuse } from '../errors.ts';

// Only as a safe integer is written: handlers put the number into the condition of a write, and no store takes NaN.
const versionTag = /^"v(0|[1-9]\d{0,14})"$/;

// A strong tag for a version that changes with every edit.
export const etagOf = (version: number | string): string => `"v${version}"`;

const lost = () => refuse('http.version_mismatch', 'It was changed since you read it.');

const splitTags = (header: string): string[] => header.split(',').map(tag => tag.trim());

export const requireHeader = () =>
  refuse('http.version_required', 'This needs an If-Match header with the ETag you last read.');

// For a handler that puts the version, a whole number, into the condition of its write. Undefined if any version may be
// overwritten. A tag that we did not issue matches nothing.
export function expectedVersion(c: Context): string | undefined {
  const header = c.req.header('if-match');
  if (header === undefined || header.trim() === '*') return undefined;
  const version = versionTag.exec(header.trim())?.[1];
  if (version === undefined) throw lost();
  return version;
}

export const versionMismatch = lost;

// Whether the caller has the current version. This is the weak comparison.
export function isUnchanged(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const plain = (tag: string) => tag.replace(/^W\//, '');
  return splitTags(ifNoneMatch).some(tag => plain(tag) === plain(etag));
}
