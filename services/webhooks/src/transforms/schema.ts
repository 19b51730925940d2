import { nameSchemas } from '@stak/http';
import { z } from 'zod';
import { compilePath, readPlainPath } from '../filters/json-path.ts';
import * as limits from './limits.ts';
import { countPaths, readTemplate } from './template.ts';

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
}).describe('Path of the value in the new body: names and indexes, like $.order.lines[0]');

const scalar = z.union([z.string().max(limits.templateChars), z.number(), z.boolean(), z.null()]);

// A value of the body, a constant, or text with values of the body in it.
const mappingSchema = z.union([
  z.strictObject({
    to: target,
    from: checked(compilePath).describe('JSONPath into the received body. Several values become an array'),
    default: scalar
      .optional()
      .describe('Used if there is no such value. Without a default, the field is left out'),
  }),
  z.strictObject({
    to: target,
    value: scalar.describe('The value of the field.'),
  }),
  z.strictObject({
    to: target,
    template: checked(readTemplate).describe('Text with {{$.path}} in place of values'),
  }),
]);
nameSchemas({
  MappedPath: mappingSchema.options[0],
  MappedConstant: mappingSchema.options[1],
  MappedTemplate: mappingSchema.options[2],
});
export type Mapping = z.infer<typeof mappingSchema>;

// Counts mappings and paths before any of them is compiled.
function countFirst(fields: unknown, context: z.RefinementCtx): unknown {
  if (!Array.isArray(fields)) return fields;
  const complain = (message: string) => context.addIssue({ code: 'custom', message });
  if (fields.length > limits.mappings) complain(`has more than ${limits.mappings} fields`);
  else if (sum(fields.map(pathsIn)) > limits.paths) complain(`has more than ${limits.paths} paths`);
  return fields;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0);

function pathsIn(field: unknown): number {
  const { template } = (typeof field === 'object' && field !== null ? field : {}) as { template?: unknown };
  // A longer one is refused anyway.
  return typeof template === 'string' && template.length <= limits.templateChars ? countPaths(template) : 1;
}

function listPaths(field: Mapping) {
  if ('template' in field) return readTemplate(field.template).filter(part => typeof part !== 'string');
  return 'from' in field ? [compilePath(field.from)] : [];
}

const fieldsSchema = z.preprocess(
  countFirst,
  z
    .array(mappingSchema)
    .min(1)
    .max(limits.mappings)
    .superRefine((fields, context) => {
      if (context.issues.length > 0) return; // a path among them may not compile
      if (fields.flatMap(listPaths).filter(path => path.isWide).length > limits.widePaths)
        context.addIssue({
          code: 'custom',
          message: `has more than ${limits.widePaths} paths that select several values`,
        });
    }),
);

export const transformSchema = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('passthrough').describe('The request is sent as it was received.') }),
    z.strictObject({
      type: z.literal('field_map').describe('The body is made of fields of the received one.'),
      fields: fieldsSchema.describe('The fields of the new body.'),
      keep: z.boolean().optional().describe('Start from the received body instead of an empty object'),
    }),
    z.strictObject({
      type: z.literal('javascript').describe('The request is changed by a function of yours.'),
      code: z
        .string()
        .min(1)
        .max(limits.codeChars)
        .describe('Defines transform(event), which returns { body, headers? }, or null to drop the event'),
    }),
  ])
  .describe('How the request is changed before it is sent.');
nameSchemas({
  Passthrough: transformSchema.options[0],
  FieldMap: transformSchema.options[1],
  Script: transformSchema.options[2],
});
export type Transform = z.infer<typeof transformSchema>;
