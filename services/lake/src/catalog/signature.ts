import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock, Sealer } from '@stak/kit';
import * as limits from '../limits.ts';

// Credentials for the files of one caller's tables, for S3 clients. The key id contains, sealed, the folder, the expiry
// and the secret, so any server with the seal key can check a signature.

type Grant = { folder: string; until: number; secret: string };
export type FileKey = { accessKeyId: string; secretAccessKey: string };

const purpose = 'lake file key';

export function grantFiles(sealer: Sealer, clock: Clock, folder: string): FileKey {
  const secret = randomBytes(24).toString('hex');
  const grant: Grant = { folder, until: clock.now() + limits.fileKeyMs, secret };
  return { accessKeyId: sealer.seal(JSON.stringify(grant), purpose), secretAccessKey: secret };
}

export type SignedRequest = {
  method: string;
  url: string;
  header(name: string): string | undefined;
};

const headerShape =
  /^AWS4-HMAC-SHA256 +Credential=([^/,\s]+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, *SignedHeaders=([\w;-]+), *Signature=([0-9a-f]{64})$/;

// The folder that the caller may read, if the request is signed as AWS describes it (Signature Version 4).
export function readableFolder(sealer: Sealer, clock: Clock, request: SignedRequest): string | undefined {
  const [, id, day, region, names, signature] = headerShape.exec(request.header('authorization') ?? '') ?? [];
  const at = request.header('x-amz-date') ?? '';
  if (!id || !day || !region || !names || !signature || !at.startsWith(day)) return undefined;
  const grant = openGrant(sealer, id);
  const isOld = Math.abs(clock.now() - timeOf(at)) > limits.signatureMs;
  if (!grant || grant.until < clock.now() || isOld || !areSigned(names.split(';'))) return undefined;
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', at, scope, sha256(canonical(request, names))].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<Buffer>(hmac, Buffer.from(`AWS4${grant.secret}`));
  return timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex')) ? grant.folder : undefined;
}

// Each name once and in order, as AWS requires: a long header that is named a thousand times would be hashed as often.
const areSigned = (names: readonly string[]): boolean =>
  names.includes('host') && names.every((name, i) => i === 0 || names[i - 1]! < name);

function openGrant(sealer: Sealer, id: string): Grant | undefined {
  try {
    return JSON.parse(sealer.openText(id, purpose)) as Grant;
  } catch {
    return undefined;
  }
}

const timeOf = (text: string): number =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')) || 0;

function canonical({ method, url, header }: SignedRequest, names: string): string {
  const { pathname, searchParams } = new URL(url);
  const query = [...searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const path = pathname
    .split('/')
    .map(lakeTable => encode(decodeURIComponent(lakeTable)))
    .join('/');
  const headers = names
    .split(';')
    .map(name => `${name}:${(header(name) ?? '').trim().replace(/ +/g, ' ')}\n`)
    .join('');
  const payload = header('x-amz-content-sha256') ?? 'UNSIGNED-PAYLOAD';
  return [method, path, query, headers, names, payload].join('\n');
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, one => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
