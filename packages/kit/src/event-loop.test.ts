import { setImmediate, setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { markWork, watchEventLoop } from './event-loop.ts';
import type { Logger } from './log.ts';

const block = (ms: number) => {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
};

it('logs an iteration that takes too long, with what started it', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = { warn: (line: Record<string, unknown>) => lines.push(line) } as unknown as Logger;
  const watch = watchEventLoop({ log, tickMs: 5 });
  onTestFinished(() => watch.stop());
  await setImmediate();
  markWork('GET /quick');
  markWork('POST /slow', 'con_1');
  block(450);
  markWork('GET /after');
  block(20);
  await expect.poll(() => lines.find(line => line.work === 'POST /slow')).toMatchObject({ work_id: 'con_1' });
  const line = lines.find(({ work }) => work === 'POST /slow')!;
  expect(line.ms).toBeGreaterThan(400);
  expect(line.work_ms).toBeGreaterThan(400);
  expect(watch.blocked()).toBe(lines.length);
  // The first sample has nothing to be compared to.
  const delayAfterBlocking = () => {
    block(350);
    return watch.delay().maxMs;
  };
  await expect.poll(delayAfterBlocking).toBeGreaterThan(300);
});

it('measures the delay of a thread that was idle before, and is not sampled then', async () => {
  const log = { warn: () => {} } as unknown as Logger;
  const watch = watchEventLoop({ log, tickMs: 20 });
  onTestFinished(() => watch.stop());
  await setTimeout(200); // real time passes: an idle thread is what is tested
  block(350);
  await expect.poll(() => watch.delay().maxMs).toBeGreaterThan(300);
});
