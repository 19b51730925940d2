import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { verify as githubVerifies, sign as signGithub } from '@octokit/webhooks-methods';
import { EventWebhook } from '@sendgrid/eventwebhook';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import twilio from 'twilio';
import { describe, expect, it } from 'vitest';
import type { HeaderPair } from '../filters/request-view.ts';
import type { Provider, VerifyInput } from './signing.ts';
import { createSigningSecret, signDelivery } from './signing.ts';
import { verify } from './verify.ts';

// The providers' own libraries sign what we verify and verify what we sign.

const stripe = new Stripe('sk_test_unused');
const nowS = Math.floor(Date.now() / 1000); // two of the libraries read the clock themselves
const url = 'https://stak.example/in/src_1';

// Text only: these libraries decode the body before they sign it. Bytes that are no text are ours alone.
const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.json());
const bytes = fc.uint8Array({ maxLength: 200 });

const check = (
  provider: Provider,
  secret: string,
  headers: HeaderPair[],
  rawBody: Uint8Array,
  change: Partial<VerifyInput> = {},
) => verify(provider, { secrets: [secret], headers, rawBody, url, nowMs: nowS * 1000, ...change });

describe('Stripe', () => {
  it('agrees with us on valid and invalid signatures', () => {
    fc.assert(
      fc.property(text, fc.string({ minLength: 1 }), (payload, secret) => {
        const header = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: nowS });
        const verdict = check('stripe', secret, [['Stripe-Signature', header]], Buffer.from(payload));
        expect(verdict.ok).toBe(true);
        expect(check('stripe', `${secret}x`, [['Stripe-Signature', header]], Buffer.from(payload)).ok).toBe(
          false,
        );
      }),
    );
  });

  it('accepts our X-Stak-Signature, with either secret of a rotation', () => {
    const secrets = [createSigningSecret(), createSigningSecret()];
    const body = Buffer.from('{"id":"evt_1"}');
    const headers = new Map(signDelivery({ secrets, eventId: 'evt_1', timestampS: nowS, body }));
    const header = headers.get('X-Stak-Signature')!;
    expect(headers.get('X-Ferryhook-Signature')).toBe(header);
    for (const secret of secrets)
      expect(stripe.webhooks.constructEvent(body, header, secret)).toEqual({ id: 'evt_1' });
    expect(() => stripe.webhooks.constructEvent(body, header, createSigningSecret())).toThrow();
  });
});

describe('GitHub', () => {
  it('agrees with us, in both directions', async () => {
    await fc.assert(
      fc.asyncProperty(text.filter(Boolean), fc.string({ minLength: 1 }), async (payload, secret) => {
        const signature = await signGithub(secret, payload);
        expect(check('github', secret, [['X-Hub-Signature-256', signature]], Buffer.from(payload)).ok).toBe(
          true,
        );
        const forged = `sha256=${createHmac('sha256', `${secret}!`).update(payload).digest('hex')}`;
        expect(await githubVerifies(secret, payload, forged)).toBe(false);
        expect(check('github', secret, [['X-Hub-Signature-256', forged]], Buffer.from(payload)).ok).toBe(
          false,
        );
      }),
    );
  });
});

describe('Twilio', () => {
  const name = fc
    .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 })
    .filter(one => one !== '__proto__');
  const form = fc.dictionary(
    name,
    fc.oneof(fc.string({ unit: 'grapheme' }), fc.array(fc.string(), { minLength: 1, maxLength: 3 })),
  );

  it('signs forms that we accept, with and without a port', () => {
    fc.assert(
      fc.property(
        form,
        fc.constantFrom(url, `${url}?a=b&c='d'`, 'https://stak.example:443/in/src_1'),
        (fields, at) => {
          const pairs = Object.entries(fields).flatMap(([key, value]) =>
            [value].flat().map((one): [string, string] => [key, one]),
          );
          const rawBody = Buffer.from(new URLSearchParams(pairs).toString());
          const decoded = Object.fromEntries(Object.keys(fields).map(key => [key, fields[key]]));
          const signature = twilio.getExpectedTwilioSignature('token', at, decoded);
          const headers: HeaderPair[] = [
            ['X-Twilio-Signature', signature],
            ['Content-Type', 'application/x-www-form-urlencoded; charset=UTF-8'],
          ];
          for (const seen of [at, at.replace(':443', '')])
            expect(check('twilio', 'token', headers, rawBody, { url: seen }).ok).toBe(true);
          expect(check('twilio', 'other', headers, rawBody, { url: at }).ok).toBe(false);
        },
      ),
    );
  });

  it('agrees on other bodies, which are bound by their hash', () => {
    fc.assert(
      fc.property(fc.json(), fc.boolean(), (payload, changed) => {
        const hash = createHash('sha256').update(payload).digest('hex');
        const at = `${url}?x=1&bodySHA256=${hash}`;
        const signature = twilio.getExpectedTwilioSignature('token', at, {});
        const sent = changed ? `${payload} ` : payload;
        const ok = twilio.validateRequestWithBody('token', signature, at, sent);
        expect(ok).toBe(!changed);
        const headers: HeaderPair[] = [
          ['X-Twilio-Signature', signature],
          ['Content-Type', 'application/json'],
        ];
        expect(check('twilio', 'token', headers, Buffer.from(sent), { url: at }).ok).toBe(ok);
      }),
    );
  });

  it('binds no other body to a signature without that hash, so we refuse it', () => {
    const headers: HeaderPair[] = [
      ['X-Twilio-Signature', twilio.getExpectedTwilioSignature('token', url, {})],
      ['Content-Type', 'application/json'],
    ];
    expect(check('twilio', 'token', headers, Buffer.from('{"any":"thing"}')).ok).toBe(false);
    expect(check('twilio', 'token', headers, Buffer.alloc(0)).ok).toBe(true);
  });
});

describe('SendGrid', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const library = new EventWebhook();

  it('agrees with its library on valid and changed bodies', () => {
    fc.assert(
      fc.property(fc.json(), fc.boolean(), (payload, changed) => {
        const timestamp = String(nowS);
        const signature = sign('sha256', Buffer.from(timestamp + payload), privateKey).toString('base64');
        const sent = changed ? `${payload}\r\n` : payload;
        const ok = library.verifySignature(library.convertPublicKeyToECDSA(key), sent, signature, timestamp);
        expect(ok).toBe(!changed);
        const headers: HeaderPair[] = [
          ['X-Twilio-Email-Event-Webhook-Signature', signature],
          ['X-Twilio-Email-Event-Webhook-Timestamp', timestamp],
        ];
        expect(check('sendgrid', key, headers, Buffer.from(sent)).ok).toBe(ok);
      }),
      { numRuns: 10 }, // its library does the curve's arithmetic in JavaScript
    );
  });
});

describe('Standard Webhooks', () => {
  it('signs what we accept', () => {
    fc.assert(
      fc.property(text, payload => {
        const secret = createSigningSecret();
        const signature = new Webhook(secret).sign('msg_1', new Date(nowS * 1000), payload);
        const headers: HeaderPair[] = [
          ['webhook-id', 'msg_1'],
          ['webhook-timestamp', String(nowS)],
          ['webhook-signature', `v1a,unknown ${signature}`],
        ];
        expect(check('standard-webhooks', secret, headers, Buffer.from(payload))).toEqual({
          ok: true,
          dedupeId: 'msg_1',
        });
        const bare = secret.slice('whsec_'.length);
        expect(check('standard-webhooks', bare, headers, Buffer.from(payload)).ok).toBe(true);
        const svix = headers.map(([name, value]): HeaderPair => [name.replace('webhook', 'svix'), value]);
        expect(check('standard-webhooks', secret, svix, Buffer.from(payload)).ok).toBe(true);
      }),
    );
  });

  it('accepts our deliveries, with either secret of a rotation', () => {
    fc.assert(
      fc.property(fc.json(), payload => {
        const secrets = [createSigningSecret(), createSigningSecret()];
        const signed = signDelivery({
          secrets,
          eventId: 'evt_9',
          timestampS: nowS,
          body: Buffer.from(payload),
        });
        for (const secret of secrets)
          expect(() => new Webhook(secret).verify(payload, Object.fromEntries(signed))).not.toThrow();
        expect(() =>
          new Webhook(createSigningSecret()).verify(payload, Object.fromEntries(signed)),
        ).toThrow();
      }),
    );
  });
});

describe('our deliveries', () => {
  // The library turns bytes into text and back before it signs, so it cannot be asked about these.
  it('keep every byte: what we sign, we verify', () => {
    fc.assert(
      fc.property(bytes, bytes, (body, other) => {
        const secret = createSigningSecret();
        const headers = signDelivery({ secrets: [secret], eventId: 'evt_9', timestampS: nowS, body });
        expect(check('standard-webhooks', secret, headers, body)).toEqual({ ok: true, dedupeId: 'evt_9' });
        const same = Buffer.compare(body, other) === 0;
        expect(check('standard-webhooks', secret, headers, other).ok).toBe(same);
      }),
    );
  });

  it('keep their id and get a new signature with each attempt', () => {
    const attempt = (timestampS: number) =>
      new Map(
        signDelivery({ secrets: ['whsec_c2VjcmV0'], eventId: 'evt_9', timestampS, body: Buffer.from('{}') }),
      );
    const [first, second] = [attempt(nowS), attempt(nowS + 30)];
    for (const name of ['X-Stak-Event-Id', 'X-Ferryhook-Event-Id', 'webhook-id'])
      expect(first.get(name)).toBe(second.get(name));
    for (const name of ['X-Stak-Timestamp', 'X-Stak-Signature', 'webhook-timestamp', 'webhook-signature'])
      expect(first.get(name)).not.toBe(second.get(name));
  });

  it('without a secret have an id and a time, and no signature', () => {
    const names = signDelivery({ secrets: [], eventId: 'e', timestampS: 1, body: Buffer.alloc(0) }).map(
      ([name]) => name,
    );
    expect(names).toEqual([
      'webhook-id',
      'webhook-timestamp',
      'X-Stak-Event-Id',
      'X-Stak-Timestamp',
      'X-Ferryhook-Event-Id',
      'X-Ferryhook-Timestamp',
    ]);
  });
});
