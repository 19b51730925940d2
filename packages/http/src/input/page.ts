import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { ZodType } from 'zod';
import type { ApiEnv } from '../context.ts';
import { refuse } from '../errors.ts';
import * as limits from '../limits.ts';
import { principalKey } from '../principal.ts';

// `packages/table` has cursors of this shape: sealed, and bound to one caller and one list.
export type CursorCodec<Position> = {
  seal(position: Position, bound: readonly unknown[]): string;
  open(cursor: string, bound: readonly unknown[]): Position;
};

// `?limit=&cursor=`, to be extended with the filters of a list.
export const pageQuery = (mostItems = limits.pageItemsMost) =>
  z.strictObject({
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(mostItems)
      .default(Math.min(limits.pageItems, mostItems))
      .openapi({ description: `The number of items, up to ${mostItems}` }),
    cursor: z
      .string()
      .min(1)
      .max(limits.cursorChars)
      .optional()
      .openapi({ description: 'The `next_cursor` of the previous page' }),
  });

export const pageOf = <S extends ZodType>(schema: S) =>
  z.strictObject({ data: z.array(schema), next_cursor: z.string().nullable() });

export type Page<T> = { data: T[]; next_cursor: string | null };

// A page of `packages/table` in the form of a response.
export const toPage = <T>({ items, cursor }: { items: T[]; cursor?: string }): Page<T> => ({
  data: items,
  next_cursor: cursor ?? null,
});

export type BoundCursors<Position> = {
  open(cursor: string | undefined): Position | undefined;
  seal(position: Position | undefined): string | null;
};

// Cursors of one request: bound to its caller, its route, its path and every filter in its query.
export function bindCursors<Position>(c: Context, codec: CursorCodec<Position>): BoundCursors<Position> {
  const bound = cursorBound(c);
  return {
    seal: position => (position === undefined ? null : codec.seal(position, bound)),
    open(cursor) {
      if (cursor === undefined) return undefined;
      try {
        return codec.open(cursor, bound);
      } catch (error) {
        throw cursorRefused(error);
      }
    },
  };
}

function cursorBound(c: Context): readonly unknown[] {
  const { principal, routeId } = variablesOf(c);
  const filters = Object.entries(c.req.queries())
    .filter(([name]) => name !== 'limit' && name !== 'cursor')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return [principal ? principalKey(principal) : null, routeId, c.req.path, filters];
}

const variablesOf = (c: Context<ApiEnv>) => ({ principal: c.get('principal'), routeId: c.get('routeId') });

export const cursorRefused = (cause?: unknown) =>
  refuse(
    'http.cursor_refused',
    'The cursor does not belong to this list.',
    { errors: [{ in: 'query', pointer: '#/cursor', code: 'refused', detail: 'Start without a cursor' }] },
    cause,
  );
