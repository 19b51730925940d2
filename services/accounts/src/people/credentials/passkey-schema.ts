import { z } from 'zod';
import * as limits from '../../limits.ts';

export const bytes = z
  .string()
  .max(limits.passkeyBytes)
  .regex(/^[A-Za-z0-9_-]*$/);
export const answerParts = {
  id: bytes.min(1),
  rawId: bytes,
  type: z.literal('public-key'),
  authenticatorAttachment: z.enum(['platform', 'cross-platform']).optional(),
  clientExtensionResults: z.looseObject({}).default({}),
};
export const passkeyAnswerSchema = z
  .strictObject({
    ...answerParts,
    response: z.strictObject({
      clientDataJSON: bytes,
      authenticatorData: bytes,
      signature: bytes,
      userHandle: bytes.optional(),
    }),
  })
  .describe('The result of `navigator.credentials.get`, as JSON');
