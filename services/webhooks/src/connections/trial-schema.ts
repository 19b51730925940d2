import { nameSchemas } from '@stak/http';
import { z } from 'zod';
import { filtersSchema } from '../filters/schema.ts';
import * as limits from '../limits.ts';
import { headerPairsSchema, idSchema } from '../schema.ts';
import { transformSchema } from '../transforms/schema.ts';

const rulesSampleSchema = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST').describe('The HTTP method.'),
  headers: headerPairsSchema
    .max(limits.headerPairs)
    .default([])
    .describe('The headers, in order, as pairs of name and value.'),
  query: z
    .string()
    .max(limits.queryChars)
    .default('')
    .describe('The query string, without the question mark.'),
  body: z.string().default('').describe('Text, or base64 if `isBase64` is true'),
  isBase64: z.boolean().default(false).describe('Whether `body` is base64.'),
  eventId: idSchema
    .optional()
    .describe('A stored event of the source: its request is used instead of the other fields'),
});
export type RulesSample = z.infer<typeof rulesSampleSchema>;
export const sampleSchema = rulesSampleSchema.extend({
  send: z.boolean().default(false).describe('Whether to send the request to the destination'),
});
export const rulesTrialSchema = rulesSampleSchema.extend({
  filters: filtersSchema.default([]),
  transform: transformSchema.default({ type: 'passthrough' }),
});
export const testResultSchema = z.strictObject({
  filter: z.strictObject({
    matched: z.boolean().describe('Whether all rules let the event pass.'),
    steps: z
      .array(
        z.strictObject({
          rule: z.string().describe('The rule, in words.'),
          matched: z.boolean().describe('Whether the rule matched.'),
          why: z.string().describe('Why the rule matched or not.'),
          depth: z.int().describe('How deep the rule is nested.'),
        }),
      )
      .describe('What each rule said, in order.'),
  }),
  transform: z
    .strictObject({
      ok: z.boolean().describe('Whether the transform succeeded.'),
      dropped: z.boolean().optional().describe('Whether the transform dropped the event.'),
      reason: z.string().optional().describe('Why it failed, for programs.'),
      message: z.string().optional().describe('Why it failed, in a sentence.'),
    })
    .optional(),
  request: z
    .strictObject({
      url: z.string().describe('The address.'),
      method: z.string().describe('The HTTP method.'),
      headers: headerPairsSchema.describe('The headers, in order, as pairs of name and value.'),
      body: z.string().describe('Base64'),
    })
    .optional()
    .describe('The request as it is sent, if the filter lets it pass.'),
  response: z
    .strictObject({
      statusCode: z.int().describe('The HTTP status of the response; 0 if there was none.'),
      latencyMs: z.number().describe('How long the destination took, in milliseconds.'),
      responseBody: z.string().optional().describe('The beginning of the response body.'),
      error: z.string().optional().describe('Why there was no response.'),
    })
    .optional()
    .describe('What the destination responded, if the request was sent.'),
});
nameSchemas({
  FilterResult: testResultSchema.shape.filter,
  TransformResult: testResultSchema.shape.transform.unwrap(),
});
export type TestResult = z.infer<typeof testResultSchema>;
export const rulesTrialResultSchema = testResultSchema
  .pick({ filter: true, transform: true })
  .extend({ body: z.string().optional().describe('What is left to send, in base64') });
