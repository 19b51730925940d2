import { problemSchema } from '@stak/http';
import { z } from 'zod';

// The error codes of OAuth (RFC 6749, 5.2; RFC 7591, 3.2.2).
export type ProtocolErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'invalid_target'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  | 'unsupported_grant_type'
  | 'unsupported_response_type';

export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: ProtocolErrorCode;

  constructor(code: ProtocolErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

const protocolErrorSchema = z.strictObject({
  error: z.string().describe('The error code of the OAuth standard'),
  error_description: z.string().describe('What is wrong, in words'),
});

// Errors in the protocol's own format. Errors outside the protocol, such as rate limits, are problems as elsewhere.
export const refusals = {
  description: 'What is wrong with the request; `http.body_refused` if the body was cut off',
  content: {
    'application/json': { schema: protocolErrorSchema },
    'application/problem+json': { schema: problemSchema },
  },
};

export const wrongRequest = {
  description:
    'A page about what is wrong with the request; `http.request_invalid`, `accounts.app_unknown`, `accounts.app_redirect_refused`',
  content: {
    'text/html': { schema: z.string() },
    'application/problem+json': { schema: problemSchema },
  },
};

// Parses a form. Refuses repeated fields (RFC 6749, 3.2).
export function parseForm(
  contentType: string | undefined,
  body: Uint8Array,
): Readonly<Record<string, string>> {
  if (!/^application\/x-www-form-urlencoded *(?:;|$)/i.test(contentType ?? ''))
    throw new ProtocolError('invalid_request', 'Send application/x-www-form-urlencoded.');
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(Buffer.from(body).toString('utf8'))) {
    if (fields.has(name)) throw new ProtocolError('invalid_request', `Send "${name}" once.`);
    if (value !== '') fields.set(name, value); // an empty value counts as omitted (RFC 6749, 3.1)
  }
  return Object.fromEntries(fields);
}
