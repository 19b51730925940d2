import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

// An authenticator in software: what a phone or a security key does, as WebAuthn has it.

export type SoftKey = ReturnType<typeof createSoftKey>;
type Options = {
  challenge: string;
  rp?: { id?: string };
  rpId?: string;
  user?: { id: string };
};
// An attacker changes these.
type Change = {
  origin?: string;
  challenge?: string;
  rpId?: string;
  userHandle?: string;
  flags?: number;
  signWith?: SoftKey;
  counter?: number;
  type?: string;
};

const base64url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest();
const present = 0x01 | 0x04; // somebody is there, and was recognised
const attested = 0x40;

export function createSoftKey(origin: string, { countsUp = true } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32);
  let userHandle = '';
  let counter = 0;

  const clientData = (type: string, options: Options, change: Change): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: change.type ?? type,
        challenge: change.challenge ?? options.challenge,
        origin: change.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const authData = (rpId: string, flags: number, change: Change, more: Uint8Array = Buffer.alloc(0)) => {
    if (countsUp) counter += 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(change.counter ?? counter);
    return Buffer.concat([sha256(change.rpId ?? rpId), Buffer.from([flags]), count, more]);
  };
  const parts = { rawId: base64url(id), id: base64url(id), type: 'public-key' as const };

  const key = {
    privateKey,
    id: base64url(id),
    create(options: Options, change: Change = {}) {
      userHandle = options.user!.id;
      const { x, y } = publicKey.export({ format: 'jwk' });
      const point = { x: Buffer.from(x!, 'base64url'), y: Buffer.from(y!, 'base64url') };
      const cose = cborMap([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, point.x],
        [-3, point.y],
      ]);
      const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cose]);
      const data = authData(options.rp!.id!, change.flags ?? present | attested, change, credential);
      const attestation = cborMap([
        ['fmt', 'none'],
        ['attStmt', new Map<number, number>()],
        ['authData', data],
      ]);
      const response = {
        clientDataJSON: base64url(clientData('webauthn.create', options, change)),
        attestationObject: base64url(attestation),
        transports: ['internal'],
      };
      return { ...parts, response, clientExtensionResults: {} };
    },
    get(options: Options, change: Change = {}) {
      const client = clientData('webauthn.get', options, change);
      const data = authData(options.rpId!, change.flags ?? present, change);
      const signature = sign(
        'sha256',
        Buffer.concat([data, sha256(client)]),
        (change.signWith ?? key).privateKey,
      );
      const response = {
        clientDataJSON: base64url(client),
        authenticatorData: base64url(data),
        signature: base64url(signature),
        userHandle: change.userHandle ?? userHandle,
      };
      return { ...parts, response, clientExtensionResults: {} };
    },
  };
  return key;
}

type Cbor = number | string | Uint8Array | Map<number, number>;

// As much of CBOR (RFC 8949) as an authenticator says.
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, value.length), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  return head(5, 0);
}
const cborMap = (entries: readonly (readonly [Cbor, Cbor])[]): Buffer =>
  Buffer.concat([head(5, entries.length), ...entries.flatMap(([key, value]) => [cbor(key), cbor(value)])]);
function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
}
