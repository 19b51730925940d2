import { z } from 'zod';
import { algorithmNames, templateOf } from './custom.ts';
import * as limits from './limits.ts';
import type { HmacConfig } from './signing.ts';

export const toleranceSchema = z
  .int()
  .min(1)
  .max(limits.toleranceMostS)
  .describe('How many seconds a signed timestamp may be off.');

const headerName = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not a header name');

// An unsigned timestamp or id proves nothing, so the template has to include what the headers name.
export const hmacConfigSchema = z
  .strictObject({
    algorithm: z.enum(['sha1', 'sha256', 'sha512']).describe('The hash function.'),
    header: headerName.describe('The header that holds the signature.'),
    encoding: z.enum(['hex', 'base64', 'base64url']).describe('How the signature is written.'),
    prefix: z.string().max(50).optional().describe('What stands before the signature in its header.'),
    secretEncoding: z.enum(['utf8', 'hex', 'base64']).optional().describe('How the secret is written.'),
    timestampHeader: headerName.optional().describe('The header that holds the time of signing.'),
    idHeader: headerName.optional().describe('The header that holds the sender’s id.'),
    template: z.string().max(200).optional().describe('The text that is signed, with placeholders.'),
  })
  .superRefine((config: HmacConfig, context) => {
    const template = templateOf(config);
    const complain = (message: string) => context.addIssue({ code: 'custom', path: ['template'], message });
    if (template.split('{body}').length !== 2) complain('must contain {body} once');
    if (template.includes('{timestamp}') !== (config.timestampHeader !== undefined))
      complain('must contain {timestamp} if and only if timestampHeader is set');
    if (template.includes('{id}') && config.idHeader === undefined)
      complain('contains {id}, but idHeader is not set');
  });

export const signingAlgorithmSchema = z
  .union([z.enum(algorithmNames), hmacConfigSchema])
  .describe(
    'How a custom source signs. A name alone means a hexadecimal signature of the body in `X-Signature`',
  );
