import type { Context } from 'hono';
import { refuse } from './errors.ts';

const versionTag = /^"v([0-9a-z]+)"$/;

// A strong tag of a version that changes with every edit.
export const etagOf = (version: number | string): string => `"v${version}"`;

const lost = () => refuse('http.version_mismatch', 'It was changed since you read it.');

const splitTags = (header: string): string[] => header.split(',').map(tag => tag.trim());

export const requireHeader = () =>
  refuse('http.version_required', 'This needs an If-Match header with the ETag you last read.');

// For a handler that has read the resource: 412 unless If-Match names its version. Weak tags never match here.
export function requireMatch(c: Context, version: number | string): void {
  const header = c.req.header('if-match');
  if (header === undefined || header.trim() === '*') return;
  if (!splitTags(header).includes(etagOf(version))) throw lost();
}

// For a handler that puts the version into its write's condition, which no other write can slip past: the one
// version that may be there, or undefined if any may. A tag that is none of ours cannot match anything.
export function expectedVersion(c: Context): string | undefined {
  const header = c.req.header('if-match');
  if (header === undefined || header.trim() === '*') return undefined;
  const version = versionTag.exec(header.trim())?.[1];
  if (version === undefined) throw lost();
  return version;
}

export const versionMismatch = lost;

// Whether the caller has it already. This comparison is the weak one.
export function isUnchanged(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const plain = (tag: string) => tag.replace(/^W\//, '');
  return splitTags(ifNoneMatch).some(tag => plain(tag) === plain(etag));
}
