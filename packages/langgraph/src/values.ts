import { createHash } from 'node:crypto';
import { ref, type Store, write } from '@stak/table';
import * as limits from './limits.ts';
import { chunk, type StoredValue } from './table.ts';

export type Encoded = { stored: StoredValue; chunks: Map<string, Uint8Array> };

const hashBytes = 20;

// Long values are split into chunks that are named by their hashes. Appending to a list changes the last chunks only;
// the others are in the table already.
export function encodeValue([type, bytes]: readonly [string, Uint8Array]): Encoded {
  if (bytes.byteLength > limits.valueBytes)
    throw new RangeError(`A value has ${bytes.byteLength} bytes; ${limits.valueBytes} can be kept`);
  if (bytes.byteLength <= limits.inlineBytes) return { stored: { type, bytes }, chunks: new Map() };
  const chunks = new Map<string, Uint8Array>();
  const hashes: Buffer[] = [];
  for (let from = 0; from < bytes.byteLength; from += limits.chunkBytes) {
    const piece = bytes.subarray(from, from + limits.chunkBytes);
    const hash = createHash('sha256').update(piece).digest().subarray(0, hashBytes);
    hashes.push(hash);
    chunks.set(hash.toString('hex'), piece);
  }
  return { stored: { type, chunks: Buffer.concat(hashes) }, chunks };
}

export function hashesOf({ chunks }: StoredValue): string[] {
  if (!chunks) return [];
  const all = Buffer.from(chunks);
  return Array.from({ length: all.length / hashBytes }, (_, i) =>
    all.subarray(i * hashBytes, (i + 1) * hashBytes).toString('hex'),
  );
}

/** Writes the chunks that are not stored yet. */
export async function writeChunks(
  store: Store,
  thread_id: string,
  encoded: readonly Encoded[],
  allowed: ReadonlySet<string>,
): Promise<void> {
  const all = new Map(encoded.flatMap(({ chunks }) => [...chunks]));
  const steps = [...all]
    .filter(([hash]) => !allowed.has(hash))
    .map(([hash, bytes]) => write.put(chunk, { thread_id, hash, bytes }));
  for (let from = 0; from < steps.length; from += limits.together)
    await store.batchWrite(steps.slice(from, from + limits.together), { pattern: 'write chunks' });
}

/** Reads the values back, each as the serializer wrote it. */
export async function readValues(
  store: Store,
  thread_id: string,
  values: readonly StoredValue[],
): Promise<[string, Uint8Array][]> {
  const hashes = [...new Set(values.flatMap(hashesOf))];
  const found = new Map<string, Uint8Array>();
  for (let from = 0; from < hashes.length; from += limits.together) {
    const some = hashes.slice(from, from + limits.together);
    const items = await store.batchGet(
      some.map(hash => ref(chunk, { thread_id, hash })),
      { consistent: true, pattern: 'read chunks' },
    );
    for (const item of items) if (item) found.set(item.hash, item.bytes);
  }
  return values.map(value => {
    if (value.bytes) return [value.type, value.bytes];
    const pieces = hashesOf(value).map(hash => {
      const piece = found.get(hash);
      if (!piece) throw new Error(`Thread ${thread_id} lacks the chunk ${hash}: it is being deleted`);
      return piece;
    });
    return [value.type, Buffer.concat(pieces)];
  });
}
