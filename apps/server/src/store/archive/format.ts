import { createHash, type ScryptOptions, scrypt } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { lstat, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';
import { createSealer, SealError, type Sealer } from '@stak/kit';
import { type Attributes, untagItem } from '@stak/table';
import { z } from 'zod';
import { UsageError } from '../../config/errors.ts';
import { linesOf } from '../lines.ts';

// An archive is a folder: archive.json, and for each table files with an item in a line, in DynamoDB's JSON.
// docs/reference/archive.md

// An archive may come from a stranger: a file is in its folder, and nowhere else.
const fileName = z.string().regex(/^[a-z0-9-]+-\d{5,9}\.ndjson\.gz$/);
const partSchema = z.object({ file: fileName, items: z.int().positive(), sha256: z.string() });
export type Part = z.infer<typeof partSchema>;

// The state is set only if there were no writes.
const sourceSchema = z.object({ store: z.string(), state: z.string().optional() });
export type ArchiveSource = z.infer<typeof sourceSchema>;

const manifestSchema = z.object({
  format: z.literal('stak-archive'),
  version: z.literal(1),
  begun: z.string(),
  finished: z.string().optional(),
  accounts: z.array(z.string()).optional(), // the accounts of these items; all accounts if it is missing
  source: sourceSchema.optional(), // the store, so that an export of another one does not continue it
  // How secrets are sealed: with a passphrase and this salt, or as they were stored.
  secrets: z.union([z.object({ salt: z.string(), check: z.string() }), z.literal('as stored')]),
  tables: z.record(
    z.string(),
    z.object({
      parts: z.array(partSchema),
      isWhole: z.boolean(),
      next: z.record(z.string(), z.unknown()).optional(), // where an interrupted export continues
    }),
  ),
  seal: z.string().optional(), // proves which server made it
});
export type Manifest = z.infer<typeof manifestSchema>;

/** Identifies an archive by its contents, for the store that it is imported into. */
export const archiveId = ({ begun, finished, tables }: Manifest): string => {
  const files = Object.values(tables).flatMap(({ parts }) => parts.map(part => part.sha256));
  return `${archivePrefix}${sha256(Buffer.from([begun, finished, ...files].join())).slice(0, 24)}`;
};
export const archivePrefix = 'arc_';

export const countItems = ({ tables }: Manifest): number =>
  Object.values(tables)
    .flatMap(({ parts }) => parts)
    .reduce((sum, { items }) => sum + items, 0);

const sealLocation = 'archive manifest'; // no item has it: theirs begin with the name of a table

// Covers every file, because the manifest has their checksums.
const digestOf = ({ seal: _, ...manifest }: Manifest): string =>
  sha256(Buffer.from(JSON.stringify(manifestSchema.parse(manifest))));

/** Proves to a server with the same secret keys that it made the archive, and that nothing was changed since. */
export const sealManifest = (manifest: Manifest, sealer: Sealer): string =>
  sealer.seal(digestOf(manifest), sealLocation);

export function isSealedBy(manifest: Manifest, sealer: Sealer): boolean {
  if (manifest.seal === undefined) return false;
  try {
    return sealer.openText(manifest.seal, sealLocation) === digestOf(manifest);
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}

export const manifestName = 'archive.json';
const manifestBytes = 64 * 1024 * 1024; // a line for each 16 MB of a server's data
const lineChars = 2 * 1024 * 1024; // an item has at most 400 KB, and twice that as JSON with bytes in Base64
const manifestFile = (folder: string): string => join(folder, manifestName);

export const hasManifest = (folder: string): boolean => existsSync(manifestFile(folder));

// Not a link to a file elsewhere, nor a pipe that never ends.
async function requireFile(
  folder: string,
  name: string,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<void> {
  const entry = await lstat(join(folder, name)).catch(() => undefined);
  if (entry && (!entry.isFile() || entry.size > mostBytes))
    throw new UsageError(`${name} of the archive is not a file, or too large`);
}

export async function readManifest(folder: string): Promise<Manifest> {
  await requireFile(folder, manifestName, manifestBytes);
  const text = await readFile(manifestFile(folder), 'utf8').catch(() => {
    throw new UsageError(`${folder} is not an archive: it has no archive.json`);
  });
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch {
    throw new UsageError(`${manifestFile(folder)} is damaged, or of another version of Stak`);
  }
}

export const writeManifest = (folder: string, manifest: Manifest): Promise<void> =>
  writeWhole(manifestFile(folder), manifestText(manifest));

export const manifestText = (manifest: Manifest): string => JSON.stringify(manifest, null, 2);

// The file exists with all of its content or not at all.
export async function writeWhole(file: string, content: string | Uint8Array): Promise<void> {
  await writeFile(`${file}.draft`, content, { mode: 0o600, flush: true });
  await rename(`${file}.draft`, file);
}

export const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

// Names a file whose content has changed; nothing of it is used.
export async function checkPart(folder: string, { file, sha256: expected }: Part): Promise<void> {
  const hash = createHash('sha256');
  await requireFile(folder, file);
  try {
    for await (const chunk of createReadStream(join(folder, file))) hash.update(chunk as Buffer);
  } catch {
    throw new UsageError(`the archive lacks ${file}`);
  }
  if (hash.digest('hex') !== expected) throw new UsageError(`${file} of the archive is damaged`);
}

export async function* readPart(folder: string, { file, items }: Part): AsyncGenerator<Attributes> {
  const input = createReadStream(join(folder, file)).pipe(createGunzip());
  let count = 0;
  for await (const line of linesOf(input, lineChars)) {
    if (++count > items) break;
    yield readItem(file, line);
  }
  if (count !== items)
    throw new UsageError(
      `${file} of the archive has ${count > items ? 'more' : count} items instead of ${items}`,
    );
}

function readItem(file: string, line: string): Attributes {
  try {
    return untagItem(JSON.parse(line, readBytes));
  } catch {
    throw new UsageError(`${file} of the archive has a line that is no item`);
  }
}

// Values of attributes are objects, so a text or a list with these names is a tag.
function readBytes(name: string, value: unknown): unknown {
  if (name === 'B' && typeof value === 'string') return Buffer.from(value, 'base64');
  if (name === 'BS' && Array.isArray(value))
    return value.map(bytes => Buffer.from(bytes as string, 'base64'));
  return value;
}

// JSON does not escape two characters that other programs take for line breaks.
export const itemLine = (item: Attributes): string =>
  JSON.stringify(tagItem(item)).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');

// Numbers have all their digits, bytes are base64.
export function tagItem(item: Attributes): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, tag(value)]));
}

function tag(value: unknown): object {
  if (value === null) return { NULL: true };
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return { L: value.map(tag) };
  if (value instanceof Set) return tagSet([...value]);
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'boolean':
      return { BOOL: value };
    case 'number':
    case 'bigint':
      return { N: String(value) };
    default:
      return { M: tagItem(value as Attributes) };
  }
}

function tagSet(members: unknown[]): object {
  const [first] = members;
  if (typeof first === 'string') return { SS: members.toSorted() };
  if (first instanceof Uint8Array)
    return { BS: members.map(member => Buffer.from(member as Uint8Array).toString('base64')).toSorted() };
  return { NS: members.map(String).toSorted() };
}

const passphraseCost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** Seals the secrets of an archive with a passphrase, which is never stored in it. */
export async function passphraseSealer(passphrase: string, salt: string): Promise<Sealer> {
  const secret = await derive(passphrase, Buffer.from(salt, 'base64'), 32, passphraseCost);
  return createSealer({ keys: [{ id: 'archive', secret }] });
}
