import { backgroundPriority, manualClock, systemClock } from '@stak/kit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAccountQueue } from '../src/account-queue.ts';
import { createSandbox, type Job, programAt, type SandboxSettings } from '../src/index.ts';
import * as limits from '../src/limits.ts';

const program = programAt('program', import.meta.url);
const job = (act: string, timeoutMs = 20_000, text = ''): Job => ({
  program,
  input: { act, text },
  timeoutMs,
});
const open = (settings: Partial<SandboxSettings> = {}) => {
  const sandbox = createSandbox({ clock: manualClock(), threads: 2, ...settings });
  onTestFinished(() => sandbox.close());
  return sandbox;
};
const echoed = { ok: true, output: { text: '' } };

describe('a sandbox', () => {
  it('starts no thread before there is work, and ends idle ones', async () => {
    const clock = manualClock();
    const sandbox = open({ clock });
    expect(sandbox.threads()).toBe(0);
    expect(await Promise.all([sandbox.run(job('echo'), 'a'), sandbox.run(job('echo'), 'b')])).toEqual([
      echoed,
      echoed,
    ]);
    expect(sandbox.threads()).toBe(2);
    await clock.advance(59_000);
    await sandbox.run(job('echo'), 'a');
    await clock.advance(59_000);
    expect(sandbox.threads()).toBe(2);
    await clock.advance(60_000);
    expect(sandbox.threads()).toBe(0);
    expect(await sandbox.run(job('echo'), 'a')).toEqual(echoed);
  });

  it.skipIf(process.platform !== 'linux')(
    'runs jobs with a lower priority than the thread that serves (needs Linux)',
    async () => {
      const priority = expect.toSatisfy((value: number) => value >= backgroundPriority);
      expect(await open().run(job('priority'), 'a')).toEqual({ ok: true, output: { priority } });
    },
  );

  it('ends a job that hangs with its thread, and runs those behind it', async () => {
    const sandbox = open({ clock: systemClock });
    const hung = [sandbox.run(job('hang', 50), 'bad'), sandbox.run(job('hang', 50), 'bad')];
    const behind = sandbox.run(job('echo'), 'bad');
    expect(await sandbox.run(job('echo'), 'good')).toEqual(echoed); // before the first of them is over
    expect(await Promise.all(hung)).toEqual([
      expect.objectContaining({ ok: false, reason: 'time_limit' }),
      expect.objectContaining({ ok: false, reason: 'time_limit' }),
    ]);
    expect(await behind).toEqual(echoed);
  });

  it('tells a job that its time is over, and keeps its thread', async () => {
    const sandbox = open({ clock: systemClock });
    expect(await sandbox.run(job('heed', 50, 'ended by itself'), 'a')).toEqual({
      ok: true,
      output: { text: 'ended by itself' },
    });
    expect(sandbox.threads()).toBe(1);
    // The next one has all of its time.
    expect(await sandbox.run(job('ask'), 'a')).toEqual({ ok: true, output: { text: 'false' } });
    expect(sandbox.threads()).toBe(1);
  });

  it.skipIf(process.platform !== 'linux')(
    'counts the processor time of a job, not the time that passes (needs Linux)',
    async () => {
      const clock = manualClock();
      const sandbox = open({ clock });
      await sandbox.run(job('echo'), 'a');
      const slow = sandbox.run(job('wait', 100, '20'), 'a');
      await clock.advance(limits.lateMs - 1);
      expect(await slow).toEqual({ ok: true, output: { text: '20' } });
    },
  );

  it.skipIf(process.platform !== 'linux')(
    'gives up a job that the machine has no time for, and does not call it the fault of the job (needs Linux)',
    async () => {
      const clock = manualClock();
      const sandbox = open({ clock });
      await sandbox.run(job('echo'), 'a');
      const late = sandbox.run(job('wait', 100, '1000000'), 'a');
      await clock.advance(limits.lateMs);
      expect(await late).toMatchObject({ ok: false, reason: 'busy' });
      expect(sandbox.threads()).toBe(0);
    },
  );

  it('calls a thread late that does not start in time', async () => {
    const clock = manualClock();
    const sandbox = open({ clock });
    const late = sandbox.run({ ...job('echo'), program: programAt('slow-program', import.meta.url) }, 'a');
    await clock.advance(limits.startMs);
    expect(await late).toMatchObject({ ok: false, reason: 'busy' });
  });

  it('reports errors inside, and continues', async () => {
    const sandbox = open();
    const outcomes = [];
    for (const act of ['fill', 'throw', 'shout']) outcomes.push(await sandbox.run(job(act), 'a'));
    expect(outcomes).toMatchObject([
      { reason: 'memory_limit' },
      { reason: 'crashed', message: 'thrown inside' },
      { reason: 'too_large' },
    ]);
    const long = 'x'.repeat(limits.messageBytes + 1);
    expect(await sandbox.run(job('echo', 20_000, long), 'a')).toMatchObject({ reason: 'too_large' });
    const nowhere = { ...job('echo'), program: new URL('./nowhere.mjs', import.meta.url) };
    expect(await sandbox.run(nowhere, 'a')).toMatchObject({ reason: 'crashed' });
    expect(await sandbox.run(job('environment'), 'a')).toEqual({ ok: true, output: { text: '' } });
  });

  it('limits concurrent jobs', async () => {
    const sandbox = open({ waiting: 2 });
    const stuck = [1, 2, 3].map(() => sandbox.run(job('hang'), 'bad'));
    expect(await sandbox.run(job('echo'), 'bad')).toMatchObject({ reason: 'busy' });
    await sandbox.close();
    await Promise.all(stuck);
  });

  it('accepts a job of another account when the queue is full, and drops one of the account with most', async () => {
    const sandbox = open({ waiting: 4 });
    const hung = [sandbox.run(job('hang'), 'a'), sandbox.run(job('hang'), 'b')];
    const long = [1, 2, 3].map(() => sandbox.run(job('hang'), 'a'));
    const short = sandbox.run(job('hang'), 'b');
    const isBusy = expect.objectContaining({ reason: 'busy', message: 'Too many jobs are waiting' });
    expect(await sandbox.run(job('echo'), 'a')).toEqual(isBusy);
    const late = sandbox.run(job('hang'), 'c');
    expect(await long[2]).toEqual(isBusy);
    const closed = expect.objectContaining({ message: 'The sandbox is closed' });
    await sandbox.close();
    expect(await Promise.all([long[0], long[1], short, late])).toEqual([closed, closed, closed, closed]);
    await Promise.all(hung);
  });

  it('refuses a job that has waited for too long', async () => {
    const clock = manualClock();
    const sandbox = open({ clock });
    const hung = sandbox.run(job('hang'), 'a');
    const waiting = sandbox.run(job('echo'), 'a');
    await clock.advance(20_000 + limits.graceMs);
    expect(await hung).toMatchObject({ ok: false });
    expect(await waiting).toMatchObject({ reason: 'busy' });
    expect(await sandbox.run(job('echo'), 'a')).toEqual(echoed);
  });

  it('accepts jobs of one account while another one has too many', async () => {
    const sandbox = open();
    const stuck = Array.from({ length: limits.waitingOfAccount + 1 }, () => sandbox.run(job('hang'), 'bad'));
    expect(await sandbox.run(job('echo'), 'bad')).toMatchObject({ reason: 'busy' });
    expect(await sandbox.run(job('echo'), 'good')).toEqual(echoed);
    await sandbox.close();
    await Promise.all(stuck);
  });
});

describe('accounts', () => {
  it('alternate, and keep their own order', () => {
    const queue = createAccountQueue<number>();
    for (const item of [1, 2, 3]) queue.push('a', item);
    queue.push('b', 4);
    queue.push('c', 5);
    queue.push('b', 6);
    expect(queue.size()).toBe(6);
    const items = Array.from({ length: 7 }, () => queue.take(() => true)?.item);
    expect(items).toEqual([1, 4, 5, 2, 6, 3, undefined]);
    expect(queue.size()).toBe(0);
  });

  it('wait without delaying others', () => {
    const queue = createAccountQueue<number>();
    queue.push('a', 1);
    queue.push('b', 2);
    expect(queue.take(account => account !== 'a')).toEqual({ account: 'b', item: 2 });
    expect(queue.take(account => account !== 'a')).toBeUndefined();
    expect(queue.take(() => true)).toEqual({ account: 'a', item: 1 });
  });
});
