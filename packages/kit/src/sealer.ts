import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import { sealKeyIdChars } from './limits.ts';

/** A key, and the id by which sealed texts refer to it. */
export type SealKey = { readonly id: string; readonly secret: string | Uint8Array };

/** Encrypts small secrets for storage. Created with `createSealer`. */
export type Sealer = {
  // `location` is where the text is stored: table, key and field. It can be opened with the same location only.
  seal(plain: Uint8Array | string, location: string): string;
  open(sealed: string, location: string): Uint8Array;
  openText(sealed: string, location: string): string;
  // Whether it was sealed with an older key, and must be sealed again before that key is dropped.
  isStale(sealed: string): boolean;
};

/** Settings of `createSealer`. */
export type SealerSettings = {
  keys: readonly SealKey[]; // the first seals, all of them open
  random?: (size: number) => Uint8Array; // for nonces; only tests need to set it
};

/** A sealed text cannot be opened: it was damaged, moved, or sealed with a key that is gone. */
export class SealError extends Error {
  override readonly name = 'SealError';
  readonly reason: 'malformed' | 'unknown_key' | 'refused';

  constructor(reason: SealError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

const nonceBytes = 12;
const tagBytes = 16;
const keyId = `[A-Za-z0-9_-]{1,${sealKeyIdChars}}`;
const keyIdShape = new RegExp(`^${keyId}$`);
// The version, the id of the key, and nonce, ciphertext and tag in base64.
const sealedShape = new RegExp(`^s1\\.(${keyId})\\.([A-Za-z0-9_-]+)$`);
/** Whether a text has the form of a sealed one. Only its sealer can tell whether it is. */
export const looksSealed = (text: string): boolean => sealedShape.test(text);

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Encrypts secrets with AES-256-GCM for storage, bound to where they are stored.
 *
 *     const sealer = createSealer({ keys: [{ id: 'k1', secret }] });
 *     const sealed = sealer.seal('s3cret', 'users/ann/token');
 *     sealer.openText(sealed, 'users/ann/token');
 */
// A nonce has 96 random bits, so one key can be used for 2^32 seals.
export function createSealer({ keys, random = randomBytes }: SealerSettings): Sealer {
  const sealing = keys[0];
  if (!sealing) throw new TypeError('There is no key to seal with');
  const secrets = new Map(keys.map(key => [key.id, deriveKey(key)]));
  if (secrets.size !== keys.length) throw new TypeError('Two keys to seal with have the same id');

  const open = (sealed: string, location: string): Buffer => {
    const { id, content } = parse(sealed);
    const secret = secrets.get(id);
    if (!secret) throw new SealError('unknown_key', `There is no key "${id}" to open it with`);
    const decipher = createDecipheriv('aes-256-gcm', secret, content.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(boundTo(id, location));
    decipher.setAuthTag(content.subarray(-tagBytes));
    const plain = decipher.update(content.subarray(nonceBytes, -tagBytes));
    try {
      return Buffer.concat([plain, decipher.final()]);
    } catch (error) {
      throw new SealError('refused', 'It was changed, or sealed for another place', { cause: error });
    }
  };

  return {
    seal(plain, location) {
      const nonce = random(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', secrets.get(sealing.id)!, nonce, {
        authTagLength: tagBytes,
      });
      cipher.setAAD(boundTo(sealing.id, location));
      const bytes = typeof plain === 'string' ? Buffer.from(plain) : plain;
      const content = Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
      return `s1.${sealing.id}.${content.toString('base64url')}`;
    },
    open,
    openText: (sealed, location) => decoder.decode(open(sealed, location)),
    isStale: sealed => parse(sealed).id !== sealing.id,
  };
}

function parse(sealed: string): { id: string; content: Buffer } {
  const [, id, text] = sealedShape.exec(sealed) ?? [];
  const content = Buffer.from(text ?? '', 'base64url');
  // The second comparison allows one spelling of each sealed value only: base64 has unused bits at its end.
  if (!id || content.length < nonceBytes + tagBytes || content.toString('base64url') !== text)
    throw new SealError('malformed', 'This is not a sealed value');
  return { id, content };
}

// An id contains no dot, so no two pairs of id and location are bound to the same bytes.
const boundTo = (id: string, location: string): Buffer => Buffer.from(`s1.${id}.${location}`);

function deriveKey({ id, secret }: SealKey) {
  if (!keyIdShape.test(id)) throw new TypeError(`"${id}" is not a valid key id`);
  if (secret.length === 0) throw new TypeError(`The key "${id}" has no secret`);
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'stak sealed values, version 1', 32)));
}
