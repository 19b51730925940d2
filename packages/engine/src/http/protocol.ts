import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { DynamoError } from '../errors.ts';
import { findOperation } from './operations.ts';

export const json10 = 'application/x-amz-json-1.0';

const mediaTypes = new Set([json10, 'application/x-amz-json-1.1', 'application/json']);

// The media type without its parameters, or undefined if AWS would not know the protocol.
export function readMediaType(header: string | undefined): string | undefined {
  if (header === undefined || mediaTypes.has(header)) return header ?? json10;
  const end = header.indexOf(';');
  const type = (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
  return mediaTypes.has(type) ? type : undefined;
}

export function parseJson(body: Buffer): unknown {
  // Bytes that are not UTF-8 would be stored as U+FFFD: two different keys could become one.
  if (!isUtf8(body)) throw new DynamoError('SerializationException', '');
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new DynamoError('SerializationException', '');
  }
}

export function readOperation(target: string | string[] | undefined): string {
  const operation = typeof target === 'string' ? findOperation(target) : undefined;
  if (operation === undefined) throw new DynamoError('UnknownOperationException', '');
  return operation;
}

// Any well-formed signature is accepted: the server has no secret keys to verify it with. It requires one, so that a
// client without credentials fails here as it would on AWS.
export function requireSignature(headers: IncomingHttpHeaders, url: string): void {
  const signedUrl = url.length > 1 && /[?&]X-Amz-Algorithm(=|&|$)/.test(url);
  if (headers.authorization && signedUrl)
    throw new DynamoError(
      'InvalidSignatureException',
      "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
    );
  if (!signedUrl && !headers.authorization?.startsWith('AWS4-'))
    throw new DynamoError('MissingAuthenticationTokenException', 'Request is missing Authentication Token');
}
