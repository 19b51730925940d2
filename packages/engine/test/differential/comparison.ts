import type { Engine } from '../../src/engine.ts';
import { DynamoError } from '../../src/errors.ts';
import { serialize } from '../../src/http/serialize.ts';
import { deserialize } from '../../src/validation/deserialize.ts';
import type { Dynoxide } from './dynoxide.ts';
import type { Json } from './fragments.ts';
import type { Request } from './request-values.ts';

// One request to both, and their answers in a form in which equal answers are equal text.

export type Result = { answer: Json } | { error: string; message: string; reasons?: Json[]; item?: Json };
export type Call = (operation: string, input: Json) => Promise<Result>;

export const engineCall =
  (engine: Engine): Call =>
  async (operation, input) => {
    try {
      const typed = deserialize(operation, JSON.parse(JSON.stringify(input)));
      return {
        answer: JSON.parse(JSON.stringify(serialize(await engine.execute(operation, typed)))) as Json,
      };
    } catch (error) {
      if (!(error instanceof DynamoError)) throw error;
      const { CancellationReasons: reasons, Item } = JSON.parse(
        JSON.stringify(serialize({ ...error })),
      ) as Json;
      return errorResult(error.name, error.message, reasons, Item);
    }
  };

export const dynoxideCall =
  (dynoxide: Dynoxide): Call =>
  async (operation, input) => {
    const { status, body } = await dynoxide.call(operation, input);
    if (status === 200) return { answer: body };
    const name = String(body.__type).replace(/^.*#/, '');
    return errorResult(name, String(body.message ?? body.Message ?? ''), body.CancellationReasons, body.Item);
  };

const errorResult = (error: string, message: string, reasons: unknown, item: unknown): Result => ({
  error,
  message,
  ...(reasons !== undefined && { reasons: reasons as Json[] }),
  ...(item !== undefined && { item: item as Json }),
});

// Pages are read to the end: where they are cut is part of the answer, what is in which is not always.
export async function ask(call: Call, { operation, input, paged, order }: Request): Promise<Result> {
  const first = await call(operation, input);
  if ('error' in first) return first;
  if (!paged) return { answer: normalise(first.answer) };
  const pages = [first.answer];
  while (pages.at(-1)!.LastEvaluatedKey && pages.length < 50) {
    const next = await call(operation, { ...input, ExclusiveStartKey: pages.at(-1)!.LastEvaluatedKey });
    if ('error' in next) return next;
    pages.push(next.answer);
  }
  const items = pages.flatMap(page => (page.Items ?? []) as Json[]);
  const counts =
    order === undefined || !input.FilterExpression ? pages.map(page => [page.Count, page.ScannedCount]) : [];
  return {
    answer: {
      items: order === undefined ? items.map(canonical) : items.map(canonical).sort(),
      ...(order && { ranges: items.map(item => canonical(item[order])) }),
      counts,
      scanned: pages.reduce((sum, page) => sum + Number(page.ScannedCount), 0),
      ...(order === undefined && { lastKeys: pages.map(page => canonical(page.LastEvaluatedKey ?? null)) }),
      ...(pages.length === 1 &&
        first.answer.ConsumedCapacity !== undefined && { capacity: first.answer.ConsumedCapacity }),
    },
  };
}

function normalise(answer: Json): Json {
  const out: Json = { ...answer };
  if (out.Responses && !Array.isArray(out.Responses)) {
    out.Responses = Object.fromEntries(
      Object.entries(out.Responses as Json).map(([table, items]) => [
        table,
        (items as Json[]).map(canonical).sort(),
      ]),
    );
  }
  return out;
}

// Members by name, sets sorted.
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (name, member: unknown) => {
    if (Array.isArray(member)) return ['SS', 'NS', 'BS'].includes(name) ? [...member].sort() : member;
    if (member === null || typeof member !== 'object') return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
