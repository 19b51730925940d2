import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HeaderPair } from '../filters/request-view.ts';
import { type Provider, providers, type VerifyInput } from './signing.ts';
import { verify } from './verify.ts';

// Requests signed by hand, from each provider's description; oracles.test.ts asks the providers' own libraries.

const nowS = 1_800_000_000;
const body = Buffer.from('{"id":"evt_1","event_id":"Ev1"}');
const url = `https://stak.example/in/src_1?bodySHA256=${createHash('sha256').update(body).digest('hex')}`;
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

type Signer = (secret: string, timestampS: number) => HeaderPair[];
const mac = (secret: string | Buffer, encoding: 'hex' | 'base64', ...parts: (string | Buffer)[]) => {
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest(encoding);
};

const signers: Record<Provider, Signer> = {
  stripe: (secret, t) => [['Stripe-Signature', `t=${t},v1=${mac(secret, 'hex', `${t}.`, body)}`]],
  github: secret => [
    ['X-Hub-Signature-256', `sha256=${mac(secret, 'hex', body)}`],
    ['X-GitHub-Delivery', 'gh-1'],
  ],
  shopify: secret => [
    ['X-Shopify-Hmac-SHA256', mac(secret, 'base64', body)],
    ['X-Shopify-Webhook-Id', 'shop-1'],
  ],
  slack: (secret, t) => [
    ['X-Slack-Signature', `v0=${mac(secret, 'hex', `v0:${t}:`, body)}`],
    ['X-Slack-Request-Timestamp', String(t)],
  ],
  twilio: secret => [
    ['X-Twilio-Signature', createHmac('sha1', secret).update(url).digest('base64')],
    ['I-Twilio-Idempotency-Token', 'tw-1'],
  ],
  sendgrid: (_, t) => [
    [
      'X-Twilio-Email-Event-Webhook-Signature',
      sign('sha256', Buffer.concat([Buffer.from(String(t)), body]), privateKey).toString('base64'),
    ],
    ['X-Twilio-Email-Event-Webhook-Timestamp', String(t)],
  ],
  'standard-webhooks': (secret, t) => [
    ['webhook-id', 'msg_1'],
    ['webhook-timestamp', String(t)],
    ['webhook-signature', `v1,${mac(Buffer.from(secret, 'base64'), 'base64', `msg_1.${t}.`, body)}`],
  ],
  custom: secret => [['X-Signature', mac(secret, 'hex', body)]],
};
const dedupeIds: Partial<Record<Provider, string>> = {
  stripe: 'evt_1',
  github: 'gh-1',
  shopify: 'shop-1',
  slack: 'Ev1',
  twilio: 'tw-1',
  'standard-webhooks': 'msg_1',
};
const timed: readonly Provider[] = ['stripe', 'slack', 'sendgrid', 'standard-webhooks'];

const derKey = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
const otherKey = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  .publicKey.export({ format: 'der', type: 'spki' })
  .toString('base64');
const secretOf = (provider: Provider) => (provider === 'sendgrid' ? derKey : 'c2VjcmV0c2VjcmV0');
const wrongOf = (provider: Provider) => (provider === 'sendgrid' ? otherKey : 'd3Jvbmd3cm9uZ3dy');

const prepare = (provider: Provider) => {
  const secret = secretOf(provider);
  const headers = signers[provider](secret, nowS);
  const input = (change: Partial<VerifyInput> = {}): VerifyInput => ({
    secrets: [secret],
    headers,
    rawBody: body,
    url,
    nowMs: nowS * 1000,
    ...change,
  });
  return { secret, headers, input };
};

describe.each(providers)('%s', provider => {
  const { secret, headers, input } = prepare(provider);

  it('accepts a valid signature and returns the delivery’s id', () => {
    const dedupeId = dedupeIds[provider];
    const accepted = dedupeId === undefined ? { ok: true } : { ok: true, dedupeId };
    expect(verify(provider, input())).toEqual(accepted);
    const lower = headers.map(([name, value]): HeaderPair => [name.toLowerCase(), value]);
    expect(verify(provider, input({ headers: lower }))).toEqual(accepted);
  });

  it('accepts either secret during a rotation, and no other', () => {
    const wrong = wrongOf(provider);
    expect(verify(provider, input({ secrets: [wrong, secret] })).ok).toBe(true);
    expect(verify(provider, input({ secrets: [secret, wrong] })).ok).toBe(true);
    expect(verify(provider, input({ secrets: [wrong] }))).toEqual({ ok: false, reason: 'mismatch' });
  });

  it('refuses a changed body', () => {
    fc.assert(
      fc.property(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const rawBody = Buffer.from(body);
        rawBody[at] = rawBody[at]! ^ flip;
        expect(verify(provider, input({ rawBody }))).toEqual({ ok: false, reason: 'mismatch' });
      }),
    );
    expect(verify(provider, input({ rawBody: Buffer.concat([body, Buffer.from(' ')]) })).ok).toBe(false);
  });

  it('refuses a request without a signature, and a source without a secret', () => {
    expect(verify(provider, input({ headers: [] }))).toEqual({ ok: false, reason: 'missing_signature' });
    for (const secrets of [[], [''], ['', '']])
      expect(verify(provider, input({ secrets, headers: signers[provider]('', nowS) }))).toEqual({
        ok: false,
        reason: 'no_secret',
      });
  });

  it('never throws, and accepts no invented signature', () => {
    const names = headers.map(([name]) => name);
    const value = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom(...headers.map(([, one]) => one)),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...names), value)),
        fc.uint8Array(),
        fc.string(),
        (sent, rawBody, at) => {
          expect(
            verify(
              provider,
              input({ headers: sent, rawBody, url: at, secrets: ['x', 'whsec_', wrongOf(provider)] }),
            ).ok,
          ).toBe(false);
        },
      ),
    );
  });
});

describe.each(timed)('%s', provider => {
  const { headers, input } = prepare(provider);

  it('refuses a different time', () => {
    for (const [offsetS, ok] of [
      [300, true],
      [-300, true],
      [301, false],
      [-301, false],
    ] as const) {
      const verdict = verify(provider, input({ nowMs: (nowS + offsetS) * 1000 }));
      expect(verdict).toMatchObject(ok ? { ok } : { ok, reason: 'stale' });
    }
    expect(verify(provider, input({ nowMs: (nowS + 20) * 1000, toleranceS: 10 }))).toMatchObject({
      reason: 'stale',
    });
    const moved = headers.map(
      ([name, value]): HeaderPair => [name, value.replace(String(nowS), String(nowS + 1))],
    );
    expect(verify(provider, input({ headers: moved }))).toEqual({ ok: false, reason: 'mismatch' });
  });
});

describe('invalid keys', () => {
  it('`whsec_` alone is an empty key, with which anyone could sign', () => {
    const headers = signers['standard-webhooks']('', nowS);
    const verdict = verify('standard-webhooks', {
      secrets: ['whsec_'],
      headers,
      rawBody: body,
      url,
      nowMs: nowS * 1000,
    });
    expect(verdict).toEqual({ ok: false, reason: 'no_secret' });
  });

  it('a key of another kind, or of a slower curve, does not verify SendGrid', () => {
    const keys = [
      generateKeyPairSync('rsa', { modulusLength: 1024 }),
      generateKeyPairSync('ec', { namedCurve: 'sect571r1' }),
    ].map(pair => pair.publicKey.export({ format: 'pem', type: 'spki' }).toString());
    for (const secret of [...keys, 'nonsense']) {
      const verdict = verify('sendgrid', {
        secrets: [secret],
        headers: signers.sendgrid('', nowS),
        rawBody: body,
        url,
        nowMs: nowS * 1000,
      });
      expect(verdict).toEqual({ ok: false, reason: 'no_secret' });
    }
  });

  it('a PEM key verifies SendGrid too', () => {
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    const verdict = verify('sendgrid', {
      secrets: [pem],
      headers: signers.sendgrid('', nowS),
      rawBody: body,
      url,
      nowMs: nowS * 1000,
    });
    expect(verdict).toEqual({ ok: true });
  });
});

describe('a form', () => {
  const address = 'https://hooks.example/in/src_1';
  const verifyForm = (text: string, signature: string) =>
    verify('twilio', {
      secrets: ['secret'],
      headers: [
        ['content-type', 'application/x-www-form-urlencoded'],
        ['x-twilio-signature', signature],
      ],
      rawBody: Buffer.from(text),
      url: address,
      nowMs: 0,
    });

  it('is signed by name, each value of a name once and in order', () => {
    const signature = createHmac('sha1', 'secret').update(`${address}a1a2bxc`).digest('base64');
    expect(verifyForm('b=x&a=2&c=&a=1&a=2', signature)).toEqual({ ok: true });
  });

  // Anybody may send one: with a search for every field, this took a minute.
  it('with too many fields is refused, whatever its signature', () => {
    for (const [count, ok] of [
      [1_000, true],
      [1_001, false],
      [60_000, false],
    ] as const) {
      const names = Array.from({ length: count }, (_, i) => `f${i}`);
      const signed = address + names.toSorted().join('');
      const signature = createHmac('sha1', 'secret').update(signed).digest('base64');
      expect(verifyForm(names.join('&'), signature).ok).toBe(ok);
    }
  });
});

describe('ids', () => {
  it('of any length fit a key', () => {
    const headers: HeaderPair[] = [
      ...signers.github('secret', nowS).slice(0, 1),
      ['X-GitHub-Delivery', 'x'.repeat(4000)],
    ];
    const verdict = verify('github', { secrets: ['secret'], headers, rawBody: body, url, nowMs: 0 });
    expect(verdict).toMatchObject({ ok: true, dedupeId: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
  });

  it('are read from JSON bodies only if they are strings of the sender', () => {
    for (const text of ['[]', 'null', '"evt"', '{"id":7}', '{"__proto__":{"id":"x"}}', 'no json']) {
      const header = `t=${nowS},v1=${mac('secret', 'hex', `${nowS}.${text}`)}`;
      const verdict = verify('stripe', {
        secrets: ['secret'],
        headers: [['stripe-signature', header]],
        rawBody: Buffer.from(text),
        url,
        nowMs: nowS * 1000,
      });
      expect(verdict).toEqual({ ok: true });
    }
  });
});
