import { webcrypto } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSealer, SealError } from './sealer.ts';

const first = { id: '2026-01', secret: 'a secret of the first year, long enough' };
const second = { id: '2026-02', secret: 'a secret of the second year, long enough' };
const location = 'ferryhook-main/SRC#src_1/META/signing_secret';
const vector = 's1.2026-01.AAECAwQFBgcICQoLCYXZcFiYxk1DY3vFeN2Xn-FVUmxKTtEkzwsRqWFAShE';

const reasonOf = (open: () => unknown): string => {
  try {
    open();
  } catch (error) {
    if (error instanceof SealError) return error.reason;
  }
  return 'opened';
};

describe('createSealer', () => {
  it('round-trips every byte and every character, at its location', () => {
    const sealer = createSealer({ keys: [first] });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'binary' }), (bytes, where) => {
        expect(sealer.open(sealer.seal(bytes, where), where)).toEqual(Buffer.from(bytes));
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        expect(sealer.openText(sealer.seal(text, location), location)).toBe(text);
      }),
    );
  });

  it('keeps its format: older values still open', () => {
    const random = (size: number) => Uint8Array.from({ length: size }, (_, i) => i);
    expect(createSealer({ keys: [first], random }).seal('whsec_0123456789', location)).toBe(vector);
    expect(createSealer({ keys: [first] }).openText(vector, location)).toBe('whsec_0123456789');
  });

  it('is HKDF and AES-256-GCM, as another implementation has them', async () => {
    const { subtle } = webcrypto;
    const encode = (text: string) => new TextEncoder().encode(text);
    const base = await subtle.importKey('raw', encode(first.secret), 'HKDF', false, ['deriveKey']);
    const info = encode('stak sealed values, version 1');
    const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info };
    const key = await subtle.deriveKey(hkdf, base, { name: 'AES-GCM', length: 256 }, false, ['decrypt']);
    const content = Buffer.from(vector.split('.')[2]!, 'base64url');
    const additionalData = encode(`s1.${first.id}.${location}`);
    const gcm = { name: 'AES-GCM', iv: content.subarray(0, 12), additionalData };
    expect(Buffer.from(await subtle.decrypt(gcm, key, content.subarray(12))).toString()).toBe(
      'whsec_0123456789',
    );
  });

  it('opens at no other location', () => {
    const sealer = createSealer({ keys: [first] });
    fc.assert(
      fc.property(fc.string(), fc.string(), (where, elsewhere) => {
        fc.pre(where !== elsewhere);
        const sealed = sealer.seal('secret', where);
        expect(reasonOf(() => sealer.open(sealed, elsewhere))).toBe('refused');
      }),
    );
  });

  it('does not open when any character was changed, dropped or added', () => {
    const sealer = createSealer({ keys: [first, second] });
    const sealed = sealer.seal('secret', location);
    const characters = 'ABCabc012-_.= ';
    for (let i = 0; i < sealed.length; i++) {
      const [before, after] = [sealed.slice(0, i), sealed.slice(i + 1)];
      for (const changed of [before + after, ...[...characters].map(one => before + one + after)])
        if (changed !== sealed) expect(reasonOf(() => sealer.open(changed, location))).not.toBe('opened');
    }
    for (const one of characters)
      expect(reasonOf(() => sealer.open(sealed + one, location))).not.toBe('opened');
  });

  it('does not open with the id of another key', () => {
    const sealer = createSealer({ keys: [first, { ...second, secret: first.secret }] });
    const renamed = sealer.seal('secret', location).replace(first.id, second.id);
    expect(reasonOf(() => sealer.open(renamed, location))).toBe('refused');
  });

  it('seals with the first key and opens with the older ones', () => {
    const old = createSealer({ keys: [first] });
    const rotated = createSealer({ keys: [second, first] });
    const sealed = old.seal('secret', location);
    expect([old.isStale(sealed), rotated.isStale(sealed)]).toEqual([false, true]);
    const again = rotated.seal(rotated.open(sealed, location), location);
    expect(rotated.isStale(again)).toBe(false);
    expect(createSealer({ keys: [second] }).openText(again, location)).toBe('secret');
    expect(reasonOf(() => old.open(again, location))).toBe('unknown_key');
  });

  it('never seals the same way twice', () => {
    const sealer = createSealer({ keys: [first] });
    expect(new Set(Array.from({ length: 500 }, () => sealer.seal('secret', location))).size).toBe(500);
  });

  it.each(['', 'secret', 's2.2026-01.AAAA', 's1.2026-01', 's1.2026-01.AAAA', 's1..AAAA'])(
    'recognises that %j is not sealed',
    text => {
      const sealer = createSealer({ keys: [first] });
      expect(reasonOf(() => sealer.open(text, location))).toBe('malformed');
      expect(reasonOf(() => sealer.isStale(text))).toBe('malformed');
    },
  );

  it.each([
    [[]],
    [[first, first]],
    [[{ id: 'a.b', secret: 'x' }]],
    [[{ id: '', secret: 'x' }]],
    [[{ id: 'a', secret: '' }]],
  ])('refuses the keys %j', keys => {
    expect(() => createSealer({ keys })).toThrow(TypeError);
  });
});
