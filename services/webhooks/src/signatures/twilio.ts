import { createHash } from 'node:crypto';
import { createMac, isSame, judge, readHeader, refuse } from './hmac.ts';
import type { Verifier, VerifyInput } from './provider.ts';

// Base64 of HMAC-SHA1 over the whole URL and, for a form, its sorted names and values. Any other body is proven
// by its hash in the URL; without that hash nothing binds the body to the signature, so it is refused.
export const verifyTwilio: Verifier = input => {
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

// As Twilio makes it; undefined for a body that it would not sign.
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
  const form = new URLSearchParams(Buffer.from(rawBody).toString());
  return [...new Set(form.keys())]
    .sort()
    .flatMap(name => [...new Set(form.getAll(name))].sort().map(value => name + value))
    .join('');
}

// Twilio signs some URLs with their port and some without, whatever was configured.
function spellPorts(url: string): string[] {
  const [, scheme = '', host = '', rest = ''] =
    /^(https?:\/\/)([^/?#]*?)(?::\d+)?([/?#].*)?$/is.exec(url) ?? [];
  const port = scheme.toLowerCase() === 'https://' ? ':443' : ':80';
  return [...new Set([url, scheme + host + rest, scheme + host + port + rest])];
}
