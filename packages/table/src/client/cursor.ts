import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  randomBytes,
  randomFillSync,
} from 'node:crypto';
import { createRecentMap } from '@stak/kit';
import { tableErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import type { Attributes } from './client.ts';

/**
 * A cursor says where a page ended. It is encrypted, because keys are private, and bound to the caller and the query,
 * so it is useless to another caller or for another query.
 */
export type Cursors = {
  seal(position: Attributes, bound: readonly unknown[]): string;
  open(cursor: string, bound: readonly unknown[]): Attributes;
};

const ivBytes = 12;
const tagBytes = 16;

/** Creates cursors for pages. Without a secret, cursors are valid only in this process. */
export function createCursors(secret: string | Uint8Array = randomBytes(32)): Cursors {
  const key = createSecretKey(createHash('sha256').update('stak cursor\0').update(secret).digest());
  const nextIv = createIvs();
  const given = createRecentMap<string, string>(limits.cursorsKept);

  const seal = (position: string, context: string): string => {
    const iv = nextIv();
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
    const sealed = [iv, cipher.update(position, 'utf8'), cipher.final()];
    return Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64url');
  };

  return {
    // Reading the same page again returns the same cursor: sealing takes as long as reading an item.
    seal(position, bound) {
      const context = contextOf(bound);
      const text = JSON.stringify(position);
      const name = `${context} ${text}`;
      const known = given.get(name);
      if (known !== undefined) return known;
      const sealed = seal(text, context);
      given.set(name, sealed);
      return sealed;
    },

    open(cursor, bound) {
      if (cursor.length > limits.cursorBytes) throw refused();
      const bytes = Buffer.from(cursor, 'base64url');
      // Base64 decoding is lenient; a cursor is accepted only exactly as it was issued.
      if (bytes.length <= ivBytes + tagBytes || bytes.toString('base64url') !== cursor) throw refused();
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), {
          authTagLength: tagBytes,
        })
          .setAAD(Buffer.from(contextOf(bound)))
          .setAuthTag(bytes.subarray(-tagBytes));
        const text = decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, 'utf8');
        return JSON.parse(text + decipher.final('utf8'));
      } catch (error) {
        throw refused(error);
      }
    },
  };
}

// Randomness is requested in bulk: each request costs more than its bytes.
function createIvs(): () => Buffer {
  const pool = Buffer.alloc(ivBytes * 256);
  let used = pool.length;
  return () => {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    used += ivBytes;
    return pool.subarray(used - ivBytes, used);
  };
}

const contextOf = (bound: readonly unknown[]): string => JSON.stringify(bound, plainSets);

const plainSets = (_: string, value: unknown) => (value instanceof Set ? [...value] : value);

const refused = (cause?: unknown) =>
  tableErrors.create('table.cursor_refused', 'the cursor does not belong to this list', undefined, cause);
