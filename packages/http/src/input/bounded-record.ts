import { type ZodRecord, type ZodType, z } from 'zod';

type Key = ZodType<string, string>;

/**
 * A record of at most so many entries. Zod checks every entry of `z.record` before any limit of their number, and tens
 * of thousands of invalid ones take half a second. `route` refuses a body with another one, unless it takes anything.
 *
 * @example
 * const labels = boundedRecord(z.string().max(20), z.string().max(200), 50);
 */
export const boundedRecord = <K extends Key, V extends ZodType>(key: K, value: V, most: number) =>
  z.preprocess(
    (input, context) => {
      if (typeof input === 'object' && input !== null && Object.keys(input).length > most)
        context.addIssue({ code: 'too_big', origin: 'object', maximum: most, inclusive: true, input });
      return input;
    },
    z.record(key, value).meta({ maxProperties: most }) as ZodRecord<K, V>,
  );
