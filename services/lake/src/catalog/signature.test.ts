import { createHash, createHmac } from 'node:crypto';
import { createSealer, manualClock } from '@stak/kit';
import { expect, it } from 'vitest';
import * as limits from '../limits.ts';
import { grantFiles, readableFolder } from './signature.ts';

const sealer = createSealer({ keys: [{ id: 'test', secret: 'a secret for tests that is long enough' }] });
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

type Sent = {
  keyAgeMs?: number; // since the key was granted
  ageMs?: number; // since the request was signed
  secret?: string; // instead of the key's own
};

// The folder that a request may read which is signed as AWS describes it, over any list of headers.
function folderFor(names: string, { keyAgeMs = 0, ageMs = 0, secret }: Sent = {}): string | undefined {
  const clock = manualClock();
  const { accessKeyId, secretAccessKey } = grantFiles(sealer, clock, 'copies/a/bronze.tasks');
  clock.set(clock.now() + keyAgeMs);
  const at = new Date(clock.now()).toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${at.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const headers: Record<string, string> = { host: 'lake.test', 'x-amz-date': at, 'x-long': 'x' };
  const lines = names.split(';').map(name => `${name}:${headers[name] ?? ''}\n`);
  const canonical = ['GET', '/a', '', lines.join(''), names, 'UNSIGNED-PAYLOAD'].join('\n');
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secret ?? secretAccessKey}`);
  const signature = hmac(key, ['AWS4-HMAC-SHA256', at, scope, sha256(canonical)].join('\n')).toString('hex');
  headers.authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  const request = { method: 'GET', url: 'http://lake.test/a', header: (name: string) => headers[name] };
  clock.set(clock.now() + ageMs);
  return readableFolder(sealer, clock, request);
}

it('accepts a signature over each header once, in order, and no other list', () => {
  expect(folderFor('host;x-amz-date;x-long')).toBe('copies/a/bronze.tasks');
  for (const names of ['host;x-long;x-long', `host${';x-long'.repeat(1000)}`, 'x-long;host', 'x-amz-date'])
    expect(folderFor(names)).toBeUndefined();
});

it('accepts the signature of the key only, while the key and the request are valid', () => {
  const names = 'host;x-amz-date';
  expect(folderFor(names, { secret: 'another' })).toBeUndefined();
  expect(folderFor(names, { keyAgeMs: limits.fileKeyMs })).toBe('copies/a/bronze.tasks');
  expect(folderFor(names, { keyAgeMs: limits.fileKeyMs + 1000 })).toBeUndefined();
  expect(folderFor(names, { ageMs: limits.signatureMs })).toBe('copies/a/bronze.tasks');
  expect(folderFor(names, { ageMs: limits.signatureMs + 1000 })).toBeUndefined();
});
