import { expect, it } from 'vitest';
import { z } from 'zod';
import { endpoint, json, route } from '../src/index.ts';
import { openShelf } from './shelf-service.ts';

// Returns the iteration of the event loop in which each request's handler runs.
async function handledIn(bodies: readonly string[]): Promise<number[]> {
  let iteration = 0;
  const iterations: number[] = [];
  const spec = route({
    method: 'post',
    path: '/v1/notes',
    auth: 'public',
    summary: 'Take a note',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    tenant: 'none',
    mcp: false,
    request: { body: json(z.strictObject({ text: z.string().max(100_000) })) },
    responses: { 204: { description: 'Taken' } },
  });
  const shelf = openShelf({
    more: [
      endpoint(spec, c => {
        iterations.push(iteration);
        return c.body(null, 204);
      }),
    ],
  });
  let isOver = false;
  const count = () => {
    iteration += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const answers = await Promise.all(
    bodies.map(text => shelf.call('/v1/notes', { method: 'POST', send: { text } })),
  );
  isOver = true;
  expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 204));
  return iterations;
}

it('parses one large body in each iteration of the event loop, so that small requests come in between', async () => {
  const large = await handledIn(Array.from({ length: 8 }, () => 'x'.repeat(20_000)));
  expect(new Set(large).size).toBe(8);
  const small = await handledIn(Array.from({ length: 8 }, () => 'x'));
  expect(new Set(small).size).toBeLessThan(8);
});
