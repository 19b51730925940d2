import { setImmediate, setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { markWork, watchEventLoop } from './event-loop.ts';
import type { Logger } from './log.ts';

const block = (ms: number) => {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
};

const processorMs = () => performance.now(); // as if nobody else had the processor

it('logs an iteration that takes too long, with what started it', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = { warn: (line: Record<string, unknown>) => lines.push(line) } as unknown as Logger;
  const watch = watchEventLoop({ log, tickMs: 5, stallLogMs: 0, processorMs });
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

it('names the start, and logs the worst of many iterations in one line', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = { warn: (line: Record<string, unknown>) => lines.push(line) } as unknown as Logger;
  const watch = watchEventLoop({ log, tickMs: 5, stallMs: 20, stallLogMs: 600, processorMs });
  onTestFinished(() => watch.stop());
  await setTimeout(10); // a tick of the watch, which has no other clock
  block(100);
  await expect.poll(() => lines.length).toBe(1);
  expect(lines[0]).toMatchObject({ work: 'start' });
  for (const ms of [100, 250, 100]) {
    markWork(`for ${ms}`);
    block(ms);
    await setTimeout(10);
  }
  await expect.poll(() => lines.length).toBe(2);
  expect(lines[1]).toMatchObject({ work: 'for 250' });
  // More if the machine held this thread up in between.
  expect(lines[1]!.iterations).toBeGreaterThanOrEqual(3);
});

it('says that others had the processor', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = { warn: (line: Record<string, unknown>) => lines.push(line) } as unknown as Logger;
  const watch = watchEventLoop({ log, tickMs: 5, processorMs: () => 0 });
  onTestFinished(() => watch.stop());
  await setImmediate();
  markWork('POST /orders');
  block(300);
  await expect.poll(() => lines.length).toBe(1);
  expect(lines[0]).toMatchObject({ work: 'none, the machine is busy' });
});

it('measures the delay of a thread that was idle before, and is not sampled then', async () => {
  const log = { warn: () => {} } as unknown as Logger;
  const watch = watchEventLoop({ log, tickMs: 20 });
  onTestFinished(() => watch.stop());
  await setTimeout(200); // real time passes: an idle thread is what is tested
  block(350);
  await expect.poll(() => watch.delay().maxMs).toBeGreaterThan(300);
});
