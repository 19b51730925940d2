import { z } from 'zod';
import { compilePath, readPlainPath } from '../filters/json-path.ts';
import * as limits from './limits.ts';
import { readTemplate } from './template.ts';

const complaintOf = (read: () => unknown): string | undefined => {
  try {
    read();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'is not valid';
  }
};
const checked = (read: (text: string) => unknown) =>
  z.string().superRefine((text, context) => {
    const message = complaintOf(() => read(text));
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

const target = checked(text => {
  const steps = readPlainPath(text);
  if (steps.some(step => typeof step === 'number' && step > limits.targetIndex))
    throw new TypeError(`has an index above ${limits.targetIndex}`);
}).describe('Where the value goes: names and indexes, like $.order.lines[0]');

const scalar = z.union([z.string().max(limits.templateChars), z.number(), z.boolean(), z.null()]);

// A value of the body, a constant, or text with values of the body in it.
export const mappingSchema = z.union([
  z.strictObject({
    to: target,
    from: checked(compilePath).describe('JSONPath into the body; several values become an array'),
    default: scalar.optional().describe('When there is no such value; without it the target is left out'),
  }),
  z.strictObject({ to: target, value: scalar }),
  z.strictObject({
    to: target,
    template: checked(readTemplate).describe('Text with {{$.path}} where a value belongs'),
  }),
]);
export type Mapping = z.infer<typeof mappingSchema>;

export const transformSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('passthrough') }),
  z.strictObject({
    type: z.literal('field_map'),
    fields: z.array(mappingSchema).min(1).max(limits.mappings),
    keep: z.boolean().optional().describe('Start from the received body rather than from nothing'),
  }),
  z.strictObject({
    type: z.literal('javascript'),
    code: z
      .string()
      .min(1)
      .max(limits.codeChars)
      .describe('Defines transform(event), which returns { body, headers? }, or null to drop the event'),
  }),
]);
export type Transform = z.infer<typeof transformSchema>;
