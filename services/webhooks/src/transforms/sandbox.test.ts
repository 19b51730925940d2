import { manualClock } from '@stak/kit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLaneQueue } from './lane-queue.ts';
import * as limits from './limits.ts';
import { createSandbox, type SandboxSettings } from './sandbox.ts';

const open = (settings: Partial<SandboxSettings> = {}) => {
  const sandbox = createSandbox({ clock: manualClock(), ...settings });
  onTestFinished(() => sandbox.close());
  return sandbox;
};
const quick = { code: 'const transform = () => ({ body: 1 })', event: '{}' };
const hang = { code: 'for (;;);', event: '{}' };

describe('the sandbox', () => {
  it('starts nothing before there is work, and ends its threads after a while without', async () => {
    const clock = manualClock();
    const sandbox = open({ clock });
    expect(sandbox.threads()).toBe(0);
    await Promise.all([sandbox.run(quick, 'a'), sandbox.run(quick, 'b')]);
    expect(sandbox.threads()).toBe(2);
    await clock.advance(59_000);
    await sandbox.run(quick, 'a');
    await clock.advance(59_000);
    expect(sandbox.threads()).toBe(2);
    await clock.advance(60_000);
    expect(sandbox.threads()).toBe(0);
    expect(await sandbox.run(quick, 'a')).toMatchObject({ body: '1' });
  });

  it('takes only so many scripts at once', async () => {
    const sandbox = open({ scriptsWaiting: 2, scriptMs: 60_000 });
    const stuck = [1, 2, 3].map(() => sandbox.run(hang, 'bad'));
    expect(await sandbox.run(quick, 'bad')).toMatchObject({ reason: 'busy' });
    await sandbox.close();
    await Promise.all(stuck);
  });

  it('takes those of one lane while another one has too many', async () => {
    const sandbox = open({ scriptMs: 60_000 });
    const stuck = Array.from({ length: limits.scriptsOfLane + 1 }, () => sandbox.run(hang, 'bad'));
    expect(await sandbox.run(quick, 'bad')).toMatchObject({ reason: 'busy' });
    expect(await sandbox.run(quick, 'good')).toMatchObject({ body: '1' });
    await sandbox.close();
    await Promise.all(stuck);
  });

  it('replaces a thread whose memory is used up', async () => {
    const sandbox = open({ scriptMs: 20_000 });
    const hungry = {
      code: 'const transform = () => { const a = []; for (;;) a.push(new Uint8Array(1e5)); }',
      event: '{}',
    };
    expect(await sandbox.run(hungry, 'a')).toMatchObject({ reason: 'memory_limit' });
    expect(sandbox.threads()).toBe(0);
    expect(await sandbox.run(quick, 'a')).toMatchObject({ body: '1' });
  });
});

describe('lanes', () => {
  it('take turns, and keep their own order', () => {
    const queue = createLaneQueue<number>();
    for (const item of [1, 2, 3]) queue.push('a', item);
    queue.push('b', 4);
    queue.push('c', 5);
    queue.push('b', 6);
    expect(queue.size()).toBe(6);
    const items = Array.from({ length: 7 }, () => queue.take(() => true)?.item);
    expect(items).toEqual([1, 4, 5, 2, 6, 3, undefined]);
    expect(queue.size()).toBe(0);
  });

  it('wait for their turn without holding up others', () => {
    const queue = createLaneQueue<number>();
    queue.push('a', 1);
    queue.push('b', 2);
    expect(queue.take(lane => lane !== 'a')).toEqual({ lane: 'b', item: 2 });
    expect(queue.take(lane => lane !== 'a')).toBeUndefined();
    expect(queue.take(() => true)).toEqual({ lane: 'a', item: 1 });
  });
});
