import { promisify } from 'node:util';
import { constants, gunzip, gzip, inflate, inflateRaw } from 'node:zlib';
import { DynamoError } from '../errors.ts';

// Bodies in gzip and deflate. Compression runs on other threads, so that a large body does not delay other requests.

const unpackGzip = promisify(gunzip);
const unpackDeflate = promisify(inflate);
const unpackRaw = promisify(inflateRaw);
const packGzip = promisify(gzip);

// The limit applies to the decompressed body: a few kilobytes of zeros would otherwise fill the memory.
export async function unpackBody(
  body: Buffer,
  encoding: string | undefined,
  limitBytes: number,
): Promise<Buffer | 'too-large'> {
  const name = encoding?.trim().toLowerCase() ?? 'identity';
  if (name === 'identity' || body.length === 0) return body;
  const options = { maxOutputLength: limitBytes };
  try {
    if (name === 'gzip' || name === 'x-gzip') return await unpackGzip(body, options);
    if (name === 'deflate') {
      // `deflate` means zlib's format, but some clients send raw deflate.
      const isZlib = (body[0]! & 0x0f) === 8 && ((body[0]! << 8) | (body[1] ?? 0)) % 31 === 0;
      return await (isZlib ? unpackDeflate : unpackRaw)(body, options);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return 'too-large';
    throw new DynamoError('SerializationException', '');
  }
  throw new DynamoError(
    'UnsupportedMediaTypeException',
    `Content-Encoding ${encoding} is not supported; send gzip, deflate, or the body as it is`,
    {},
    415,
  );
}

// Below this, compression costs more than it saves.
const packedBytes = 2048;

export async function packBody(
  body: Buffer,
  accepted: string | string[] | undefined,
): Promise<Buffer | undefined> {
  if (body.length < packedBytes || !acceptsGzip(String(accepted ?? ''))) return undefined;
  return packGzip(body, { level: constants.Z_BEST_SPEED });
}

function acceptsGzip(accepted: string): boolean {
  for (const part of accepted.split(',')) {
    const [name, ...parameters] = part.split(';').map(text => text.trim().toLowerCase());
    if (name !== 'gzip' && name !== 'x-gzip') continue;
    return !parameters.some(parameter => /^q=0(?:\.0*)?$/.test(parameter));
  }
  return false;
}
