import { createHash, createPublicKey, type KeyObject, verify as verifyBytes } from 'node:crypto';
import { type HookRequest, viewRequest } from '../filters/request-view.ts';
import { verifyCustom } from './custom.ts';
import * as limits from './limits.ts';
import {
  accept,
  createMac,
  isSame,
  isStale,
  judge,
  type Provider,
  readBodyId,
  readHeader,
  readTimestamp,
  refuse,
  signStandard,
  standardKey,
  type Verification,
  type Verifier,
  type VerifyInput,
} from './signing.ts';

// `Stripe-Signature: t=1492774577,v1=5257a8…,v1=6ffbb5…`: hex over `t.body`.
const verifyStripe: Verifier = ({ secrets, headers, rawBody, nowMs, toleranceS }) => {
  const header = readHeader(headers, 'stripe-signature');
  if (header === undefined) return refuse('missing_signature');
  const fields = header.split(',').map(field => field.trim());
  const valuesOf = (name: string) =>
    fields.filter(field => field.startsWith(`${name}=`)).map(field => field.slice(name.length + 1));
  const [timestamp] = valuesOf('t');
  const given = valuesOf('v1');
  const timestampS = timestamp === undefined ? undefined : readTimestamp(timestamp);
  if (timestampS === undefined || given.length === 0) return refuse('malformed_signature');
  const expected = secrets.map(secret => createMac('sha256', secret, [`${timestamp}.`, rawBody], 'hex'));
  const verdict = judge(given, expected, readBodyId(rawBody, 'id'));
  return verdict.ok && isStale(timestampS, nowMs, toleranceS) ? refuse('stale') : verdict;
};

// The older `X-Hub-Signature` is SHA-1 and not read: GitHub sends both.
const verifyGithub: Verifier = ({ secrets, headers, rawBody }) => {
  const header = readHeader(headers, 'x-hub-signature-256');
  if (header === undefined) return refuse('missing_signature');
  if (!header.startsWith('sha256=')) return refuse('malformed_signature');
  const expected = secrets.map(secret => `sha256=${createMac('sha256', secret, [rawBody], 'hex')}`);
  return judge([header], expected, readHeader(headers, 'x-github-delivery'));
};

const verifyShopify: Verifier = ({ secrets, headers, rawBody }) => {
  const header = readHeader(headers, 'x-shopify-hmac-sha256');
  if (header === undefined) return refuse('missing_signature');
  const expected = secrets.map(secret => createMac('sha256', secret, [rawBody], 'base64'));
  return judge([header], expected, readHeader(headers, 'x-shopify-webhook-id'));
};

// `X-Slack-Signature: v0=…`: hex over `v0:timestamp:body`.
const verifySlack: Verifier = ({ secrets, headers, rawBody, nowMs, toleranceS }) => {
  const header = readHeader(headers, 'x-slack-signature');
  const timestamp = readHeader(headers, 'x-slack-request-timestamp');
  if (header === undefined || timestamp === undefined) return refuse('missing_signature');
  const timestampS = readTimestamp(timestamp);
  if (timestampS === undefined || !header.startsWith('v0=')) return refuse('malformed_signature');
  const signed = [`v0:${timestamp}:`, rawBody];
  const expected = secrets.map(secret => `v0=${createMac('sha256', secret, signed, 'hex')}`);
  const verdict = judge([header], expected, readBodyId(rawBody, 'event_id'));
  return verdict.ok && isStale(timestampS, nowMs, toleranceS) ? refuse('stale') : verdict;
};

// Base64 of HMAC-SHA1 over the whole URL and, for a form, its sorted names and values. Any other body is covered by its
// hash in the URL; without that hash the signature does not cover the body, so the request is refused.
const verifyTwilio: Verifier = input => {
  const { secrets, headers } = input;
  const header = readHeader(headers, 'x-twilio-signature');
  if (header === undefined) return refuse('missing_signature');
  const fields = readSignedFields(input);
  if (fields === undefined) return refuse('mismatch');
  const expected = secrets.flatMap(secret =>
    spellPorts(input.url).map(url => createMac('sha1', secret, [url, fields], 'base64')),
  );
  return judge([header], expected, readHeader(headers, 'i-twilio-idempotency-token'));
};

type Signed = Pick<VerifyInput, 'url' | 'headers' | 'rawBody'>;

// The signature that Twilio would send. Undefined for a body that it would not sign.
export function twilioSignature({ secret, ...signed }: Signed & { secret: string }): string | undefined {
  const fields = readSignedFields(signed);
  return fields === undefined ? undefined : createMac('sha1', secret, [signed.url, fields], 'base64');
}

function readSignedFields({ url, headers, rawBody }: Signed): string | undefined {
  if (rawBody.length === 0) return '';
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const hash = url.includes('?') ? query.get('bodySHA256') : null;
  if (hash !== null) return isSame(hash, createHash('sha256').update(rawBody).digest('hex')) ? '' : undefined;
  const type = readHeader(headers, 'content-type') ?? '';
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) return undefined;
  // Any sender may send a form with as many names as fit into it, and sorting these takes a fifth of a second.
  if (countOf(rawBody, ampersand) >= limits.formFields) return undefined;
  const fields = new Map<string, Set<string>>();
  for (const [name, value] of new URLSearchParams(Buffer.from(rawBody).toString())) {
    const values = fields.get(name) ?? new Set();
    fields.set(name, values.add(value));
  }
  return [...fields.keys()]
    .sort()
    .flatMap(name => [...fields.get(name)!].sort().map(value => name + value))
    .join('');
}

const ampersand = 0x26;

function countOf(bytes: Uint8Array, wanted: number): number {
  let count = 0;
  for (const byte of bytes) if (byte === wanted) count += 1;
  return count;
}

// Twilio signs some URLs with their port and some without, regardless of the configured one.
function spellPorts(url: string): string[] {
  const [, scheme = '', host = '', rest = ''] =
    /^(https?:\/\/)([^/?#]*?)(?::\d+)?([/?#].*)?$/is.exec(url) ?? [];
  const port = scheme.toLowerCase() === 'https://' ? ':443' : ':80';
  return [...new Set([url, scheme + host + rest, scheme + host + port + rest])];
}

// ECDSA over `timestamp + body`. The secret of the source is SendGrid's public key, as base64 of DER or as PEM. A batch of
// events has no id.
const verifySendgrid: Verifier = ({ secrets, headers, rawBody, nowMs, toleranceS }) => {
  const signature = readHeader(headers, 'x-twilio-email-event-webhook-signature');
  const timestamp = readHeader(headers, 'x-twilio-email-event-webhook-timestamp');
  if (signature === undefined || timestamp === undefined) return refuse('missing_signature');
  const timestampS = readTimestamp(timestamp);
  if (timestampS === undefined) return refuse('malformed_signature');
  const keys = secrets.map(readPublicKey).filter(key => key !== undefined);
  if (keys.length === 0) return refuse('no_secret');
  const signed = Buffer.concat([Buffer.from(timestamp), rawBody]);
  const bytes = Buffer.from(signature, 'base64');
  if (!keys.some(key => verifyBytes('sha256', signed, key, bytes))) return refuse('mismatch');
  return isStale(timestampS, nowMs, toleranceS) ? refuse('stale') : accept(undefined);
};

function readPublicKey(text: string): KeyObject | undefined {
  try {
    const key = text.includes('-----BEGIN')
      ? createPublicKey(text)
      : createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    // SendGrid's curve. Others take up to twenty times as long, on the thread that serves everyone.
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined;
  } catch {
    return undefined;
  }
}

// Senders that started with Svix still use its name for the same three headers.
const families = ['webhook', 'svix'];

// `webhook-signature: v1,K5oZ… v1,G9Da…`: base64 over `id.timestamp.body`.
const verifyStandardWebhooks: Verifier = input => {
  const { secrets, rawBody, nowMs, toleranceS } = input;
  const found = families.map(family => readFamily(input, family)).find(one => one !== undefined);
  if (!found) return refuse('missing_signature');
  const { id, timestamp, signature } = found;
  const timestampS = readTimestamp(timestamp);
  const given = signature.split(' ').filter(one => one.startsWith('v1,'));
  if (timestampS === undefined || given.length === 0) return refuse('malformed_signature');
  const usable = secrets.filter(secret => standardKey(secret).length > 0);
  const expected = usable.map(secret => signStandard(secret, id, timestamp, rawBody));
  const verdict = judge(given, expected, id);
  return verdict.ok && isStale(timestampS, nowMs, toleranceS) ? refuse('stale') : verdict;
};

function readFamily({ headers }: VerifyInput, family: string) {
  const id = readHeader(headers, `${family}-id`);
  const timestamp = readHeader(headers, `${family}-timestamp`);
  const signature = readHeader(headers, `${family}-signature`);
  return id && timestamp && signature ? { id, timestamp, signature } : undefined;
}

const verifiers: Readonly<Record<Provider, Verifier>> = {
  stripe: verifyStripe,
  github: verifyGithub,
  shopify: verifyShopify,
  slack: verifySlack,
  twilio: verifyTwilio,
  sendgrid: verifySendgrid,
  'standard-webhooks': verifyStandardWebhooks,
  custom: verifyCustom,
};

// Verifies the provider's signature over the exact bytes received. Never throws on what a sender controls. An empty secret
// is ignored: HMAC would accept it, and anyone could sign with it.
export function verify(provider: Provider, input: VerifyInput): Verification {
  const secrets = input.secrets.filter(secret => secret !== '' && secret.length <= limits.secretChars);
  if (secrets.length === 0) return { ok: false, reason: 'no_secret' };
  return verifiers[provider]({ ...input, secrets });
}

export type Handshake = {
  // A signed handshake is answered only after its signature is verified. One with a verify token needs no signature.
  signed: boolean;
  status: 200 | 403;
  contentType: 'text/plain; charset=utf-8';
  body: string;
};

// The response that a provider expects before it sends events, or undefined if the request is an event.
export function answerHandshake(
  provider: Provider,
  request: HookRequest,
  verifyTokens: readonly string[],
): Handshake | undefined {
  if (request.method === 'GET') return answerSubscription(request, verifyTokens);
  if (provider === 'slack') return answerSlack(request);
  if (provider === 'github' && viewRequest(request).header('x-github-event')[0] === 'ping')
    return say(true, 'pong');
  return undefined;
}

// WebSub's verification, as Meta's platforms send it: `?hub.mode=subscribe&hub.verify_token=…&hub.challenge=…`.
function answerSubscription(request: HookRequest, verifyTokens: readonly string[]): Handshake | undefined {
  const view = viewRequest(request);
  const [mode] = view.queryValues('hub.mode');
  const [challenge] = view.queryValues('hub.challenge');
  const [token = ''] = view.queryValues('hub.verify_token');
  if (mode !== 'subscribe' || challenge === undefined || verifyTokens.length === 0) return undefined;
  const isKnown = verifyTokens.some(verifyToken => verifyToken !== '' && isSame(verifyToken, token));
  if (!isKnown || challenge.length > limits.challengeChars)
    return { ...say(false, 'The verify token does not match'), status: 403 };
  return say(false, challenge);
}

function answerSlack(request: HookRequest): Handshake | undefined {
  const json = viewRequest(request).json();
  const fields = json.ok ? Object.entries(json.value ?? {}) : [];
  const read = (name: string): unknown => fields.find(([one]) => one === name)?.[1];
  const challenge = read('challenge');
  if (read('type') !== 'url_verification' || typeof challenge !== 'string') return undefined;
  return challenge.length > limits.challengeChars ? undefined : say(true, challenge);
}

// Plain text, so that what a stranger makes us echo is never rendered as a page.
const say = (signed: boolean, body: string): Handshake => ({
  signed,
  status: 200,
  contentType: 'text/plain; charset=utf-8',
  body,
});
