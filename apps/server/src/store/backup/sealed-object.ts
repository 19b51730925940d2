import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRawSync, inflateRaw } from 'node:zlib';
import { z } from 'zod';
import type { SecretKey } from '../../config/secrets.ts';

// An object of a backup: its facts in readable JSON, then its content, compressed and optionally encrypted, then a
// SHA-256 of everything before. Objects can be concatenated.
//
//   "stakbkp1" (8) | length of the facts (4) | facts | content | SHA-256 (32)

const magic = Buffer.from('stakbkp1');
const headBytes = magic.length + 4;
const checksumBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const cipherName = 'aes-256-gcm';

const whole = z.number().int().min(0);
const factsSchema = z.discriminatedUnion('kind', [
  // Commits of a history, in order. `previous` is the checksum of the segment before, empty for the first.
  z.object({
    kind: z.literal('log'),
    history: z.string(),
    number: whole,
    previous: z.string(),
    first: whole,
    last: whole,
    firstAt: z.number(),
    lastAt: z.number(),
    // The position of the journal after it.
    next: z.object({ chain: whole, file: whole, offset: whole }),
  }),
  z.object({
    kind: z.literal('snapshot'),
    history: z.string(),
    commit: whole,
    part: whole,
    previous: z.string(),
  }),
  // Written when every part of a snapshot exists, and the log up to `commit`. `last` is the checksum of the last part.
  // Parts are read one after the other while the store is written to: they contain everything up to the commit `from`
  // and some later changes.
  z.object({
    kind: z.literal('manifest'),
    history: z.string(),
    from: whole,
    commit: whole, // with the log up to here, it is the store at `at`
    at: z.number(),
    after: whole, // the segment before it
    parts: whole,
    last: z.string(),
    entries: whole,
    bytes: whole,
    secretKeyIds: z.array(z.string()),
    madeAt: z.number().optional(), // when the first table of the store was created
    server: z.string().optional(), // its version and commit
  }),
  // How far the log goes at least, so that a missing end is noticed.
  z.object({
    kind: z.literal('head'),
    history: z.string(),
    number: whole,
    checksum: z.string(),
    coveredUntil: z.number(),
    writtenAt: z.number(),
  }),
]);

export type Facts = z.output<typeof factsSchema>;
export type FactsOf<K extends Facts['kind']> = Extract<Facts, { kind: K }>;

const storedSchema = z.object({
  facts: factsSchema,
  bytes: whole,
  key: z.object({ id: z.string(), nonce: z.string() }).optional(),
});
type Stored = z.output<typeof storedSchema>;

export type Sealed = { bytes: Buffer; checksum: string };
export type Opened<K extends Facts['kind']> = { facts: FactsOf<K>; content: Buffer; checksum: string };

// Something in a backup is damaged, missing, misplaced or encrypted: the message names it, and what to do.
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

// Most of the processor time of a backup: it runs on a thread with low priority, not in Node's pool. More effort or a
// larger window would make it a few percent smaller.
const cheaply = { level: 1, windowBits: 12, memLevel: 9 };
const decompress = promisify(inflateRaw);

export function sealObject(facts: Facts, content: Buffer, key: SecretKey | undefined): Sealed {
  const compressed = deflateRawSync(content, cheaply);
  const nonce = randomBytes(nonceBytes);
  const stored: Stored = {
    facts,
    bytes: compressed.length + (key ? tagBytes : 0),
    ...(key && { key: { id: key.id, nonce: nonce.toString('base64') } }),
  };
  const head = headOf(stored);
  const body = key ? encrypt(compressed, key, nonce, head) : [compressed];
  const hash = createHash('sha256').update(head);
  for (const part of body) hash.update(part);
  const checksum = hash.digest();
  return { bytes: Buffer.concat([head, ...body, checksum]), checksum: checksum.toString('hex') };
}

function headOf(stored: Stored): Buffer {
  const text = Buffer.from(JSON.stringify(stored));
  const head = Buffer.concat([magic, Buffer.alloc(4), text]);
  head.writeUInt32BE(text.length, magic.length);
  return head;
}

// The facts are not secret, but cannot be changed without the key.
function encrypt(plain: Buffer, { secret }: SecretKey, nonce: Buffer, head: Buffer): Buffer[] {
  const cipher = createCipheriv(cipherName, secret.subarray(0, 32), nonce);
  cipher.setAAD(head);
  return [cipher.update(plain), cipher.final(), cipher.getAuthTag()];
}

export type Reader = { name: string; keys: readonly SecretKey[] };

// The facts of an object, and where the next one starts, after its checksum was verified.
export function inspectObject(
  bytes: Buffer,
  name: string,
): { stored: Stored; head: Buffer; body: Buffer; checksum: string; end: number } {
  const damaged = () => new BackupError(`${name} is damaged: its checksum is not the one that was written`);
  if (bytes.length < headBytes || !bytes.subarray(0, magic.length).equals(magic)) throw damaged();
  const headEnd = headBytes + bytes.readUInt32BE(magic.length);
  if (headEnd > bytes.length) throw damaged();
  const stored = storedSchema.safeParse(parseJson(bytes.toString('utf8', headBytes, headEnd)));
  if (!stored.success) throw damaged();
  const bodyEnd = headEnd + stored.data.bytes;
  const end = bodyEnd + checksumBytes;
  if (end > bytes.length) throw damaged();
  const checksum = createHash('sha256').update(bytes.subarray(0, bodyEnd)).digest();
  if (!checksum.equals(bytes.subarray(bodyEnd, end))) throw damaged();
  return {
    stored: stored.data,
    head: bytes.subarray(0, headEnd),
    body: bytes.subarray(headEnd, bodyEnd),
    checksum: checksum.toString('hex'),
    end,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export async function openObject<K extends Facts['kind']>(
  kind: K,
  inspected: ReturnType<typeof inspectObject>,
  { name, keys }: Reader,
): Promise<Opened<K>> {
  const { stored, head, body, checksum } = inspected;
  if (stored.facts.kind !== kind) throw new BackupError(`${name} is not what its name says`);
  const compressed = stored.key ? decrypt(body, head, stored.key, { name, keys }) : body;
  const content = await decompress(compressed).catch(() => {
    throw new BackupError(`${name} is damaged: its content cannot be read`);
  });
  return { facts: stored.facts as FactsOf<K>, content, checksum };
}

function decrypt(
  body: Buffer,
  head: Buffer,
  used: { id: string; nonce: string },
  { name, keys }: Reader,
): Buffer {
  const key = keys.find(({ id }) => id === used.id);
  if (!key)
    throw new BackupError(
      `${name} is encrypted with the key "${used.id}"; set STAK_BACKUP_KEYS to ${used.id}:secret`,
    );
  try {
    const decipher = createDecipheriv(
      cipherName,
      key.secret.subarray(0, 32),
      Buffer.from(used.nonce, 'base64'),
    );
    decipher.setAAD(head);
    decipher.setAuthTag(body.subarray(body.length - tagBytes));
    return Buffer.concat([decipher.update(body.subarray(0, body.length - tagBytes)), decipher.final()]);
  } catch {
    throw new BackupError(
      `${name} does not open with the key "${used.id}": STAK_BACKUP_KEYS has another secret under this id`,
    );
  }
}
