import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HeaderPair } from '../filters/request-view.ts';
import { hmacConfigSchema } from './schema.ts';
import type { HmacConfig } from './signing.ts';
import { verify } from './verify.ts';

const nowS = 1_800_000_000;
const plain: HmacConfig = { algorithm: 'sha256', header: 'X-Sig', encoding: 'hex' };
const check = (config: HmacConfig, headers: HeaderPair[], rawBody: Uint8Array, secrets = ['secret']) =>
  verify('custom', { secrets, headers, rawBody, url: '', nowMs: nowS * 1000, config });

describe('a custom source', () => {
  it('verifies any bytes with every algorithm, encoding and prefix', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('sha1' as const, 'sha256' as const, 'sha512' as const),
        fc.constantFrom('hex' as const, 'base64' as const, 'base64url' as const),
        fc.constantFrom(undefined, 'sha=', 'v1,'),
        fc.uint8Array(),
        (algorithm, encoding, prefix, rawBody) => {
          const config = hmacConfigSchema.parse({ ...plain, algorithm, encoding, prefix });
          const signature = createHmac(algorithm, 'secret').update(rawBody).digest(encoding);
          const header: HeaderPair = ['x-sig', `${prefix ?? ''}${signature}`];
          expect(check(config, [header], rawBody)).toEqual({ ok: true });
          expect(check(config, [header], rawBody, ['other']).ok).toBe(false);
        },
      ),
    );
  });

  it('signs a template with timestamp and id, in seconds or milliseconds', () => {
    const config = hmacConfigSchema.parse({
      ...plain,
      timestampHeader: 'X-Time',
      idHeader: 'X-Id',
      template: 'v2:{id}:{timestamp}:{body}!',
    });
    for (const [time, verdict] of [
      [String(nowS), { ok: true, dedupeId: 'd1' }],
      [String(nowS * 1000 + 7), { ok: true, dedupeId: 'd1' }],
      [String(nowS - 301), { ok: false, reason: 'stale' }],
      ['yesterday', { ok: false, reason: 'malformed_signature' }],
    ] as const) {
      const signature = createHmac('sha256', 'secret').update(`v2:d1:${time}:body!`).digest('hex');
      const headers: HeaderPair[] = [
        ['X-Sig', signature.toUpperCase()],
        ['X-Time', time],
        ['X-Id', 'd1'],
      ];
      expect(check(config, headers, Buffer.from('body'))).toEqual(verdict);
    }
  });

  it('does not read the body for a template', () => {
    const body = Buffer.from('{timestamp}{id}{body}');
    const signature = createHmac('sha256', 'secret').update(body).digest('hex');
    expect(check(plain, [['X-Sig', signature]], body)).toEqual({ ok: true });
  });

  it('accepts keys in hex or base64, and refuses invalid ones', () => {
    const key = Buffer.from('00ff10', 'hex');
    const signature = createHmac('sha256', key).update('body').digest('hex');
    const verdict = (secretEncoding: 'hex' | 'base64', secret: string) =>
      check({ ...plain, secretEncoding }, [['X-Sig', signature]], Buffer.from('body'), [secret]);
    expect(verdict('hex', '00ff10')).toEqual({ ok: true });
    expect(verdict('base64', 'AP8Q')).toEqual({ ok: true });
    for (const secret of ['zz', '00ff1', '00 ff'])
      expect(verdict('hex', secret)).toEqual({ ok: false, reason: 'no_secret' });
  });
});

describe('the configuration', () => {
  it.each([
    { ...plain, timestampHeader: 'X-Time', template: '{body}' },
    { ...plain, template: '{timestamp}.{body}' },
    { ...plain, template: '{id}.{body}' },
    { ...plain, template: 'nothing' },
    { ...plain, template: '{body}{body}' },
    { ...plain, header: 'x y' },
    { ...plain, header: '' },
    { ...plain, algorithm: 'md5' },
    { ...plain, extra: 1 },
  ])('is refused if it would prove nothing: %j', config => {
    expect(hmacConfigSchema.safeParse(config).success).toBe(false);
  });
});
