import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { LiveList } from './mcp-resources.ts';
import { openWatch } from './mcp-watch.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const changed = 'event: changed\ndata: {}\n\n';

function openStream() {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const stream = new ReadableStream<Uint8Array>({
    start: given => {
      controller = given;
    },
  });
  return { stream, send: (text: string) => controller.enqueue(bytes(text)), end: () => controller.close() };
}

const lists = [{ pathsOf: () => ({ list: '/list', events: '/events' }) }] as unknown as LiveList[];

it('owes a client that does not read one notification, and tells nothing that is no change', async () => {
  const [events, answer] = [openStream(), openStream()];
  let isOver = false;
  const watch = await openWatch(
    ['stak://a'],
    lists,
    async () => new Response(events.stream),
    () => {
      isOver = true;
    },
  );
  const told: string[] = [];
  watch.bus.subscribe(event => {
    told.push(event.kind);
    answer.send('told');
  });
  const reader = watch.answer(new Response(answer.stream)).body!.getReader();
  answer.send('acknowledged');
  await reader.read();
  events.send('retry: 3000\n\nevent: open\ndata: {}\n\n: still here\n\n');
  for (let i = 0; i < 1000; i++) events.send(changed);
  await setImmediate();
  expect(told).toEqual([]);
  await reader.read();
  expect(told).toEqual(['resource_updated']);
  const next = reader.read();
  await setImmediate();
  events.send(changed.slice(0, 9));
  await setImmediate();
  expect(told).toHaveLength(1);
  events.send(changed.slice(9));
  await next;
  expect(told).toHaveLength(2);
  events.end();
  await setImmediate();
  expect(isOver).toBe(true);
});

it('closes what it has opened if nobody begins to listen', async () => {
  let isClosed = false;
  const stream = new ReadableStream<Uint8Array>({
    cancel: () => {
      isClosed = true;
    },
  });
  const watch = await openWatch(
    ['stak://a'],
    lists,
    async () => new Response(stream),
    () => {},
  );
  expect(watch.answer(new Response('no', { status: 400 })).status).toBe(400);
  await setImmediate();
  expect(isClosed).toBe(true);
});
