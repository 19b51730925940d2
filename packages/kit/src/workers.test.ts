import { describe, expect, it } from 'vitest';
import { createLogger } from './log.ts';
import { manualClock } from './manual-clock.ts';
import { restartMs, superviseWorkers, type Worker, type WorkerSettings } from './workers.ts';

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }));

function supervise(workers: Worker[], settings: Partial<WorkerSettings> = {}, clock = manualClock(0)) {
  const lines: { msg: string; worker: string; delayMs?: number }[] = [];
  const log = createLogger({ clock, destination: { write: text => void lines.push(JSON.parse(text)) } });
  const supervisor = superviseWorkers(workers, { clock, log, random: () => 1, ...settings });
  return { clock, lines, supervisor };
}

describe('superviseWorkers', () => {
  it('runs every worker and stops them on request', async () => {
    const { clock, lines, supervisor } = supervise(['a', 'b'].map(name => ({ name, run: untilAborted })));
    expect(supervisor.states()).toEqual([
      { name: 'a', status: 'running', sinceMs: 0, restarts: 0 },
      { name: 'b', status: 'running', sinceMs: 0, restarts: 0 },
    ]);
    await clock.advance(5);
    const stopping = supervisor.stop();
    expect(supervisor.stop()).toBe(stopping);
    expect(await stopping).toEqual([]);
    expect(supervisor.states().map(state => [state.status, state.sinceMs])).toEqual([
      ['stopped', 5],
      ['stopped', 5],
    ]);
    expect(clock.sleepers()).toBe(0);
    expect(lines).toEqual([]);
  });

  it('restarts a failing worker with doubling delays up to the maximum', async () => {
    const clock = manualClock(0);
    const startedMs: number[] = [];
    const run = async () => {
      startedMs.push(clock.now());
      throw new Error('no luck');
    };
    const settings = { backoffFirstMs: 100, backoffMostMs: 400 };
    const { lines, supervisor } = supervise([{ name: 'unlucky', run }], settings, clock);
    await clock.advance(1500);
    expect(startedMs).toEqual([0, 100, 300, 700, 1100, 1500]);
    expect(lines.map(line => line.delayMs)).toEqual([100, 200, 400, 400, 400, 400]);
    expect(supervisor.states()).toEqual([
      {
        name: 'unlucky',
        status: 'backing-off',
        sinceMs: 1500,
        restarts: 5,
        lastError: { message: 'no luck', atMs: 1500 },
      },
    ]);
    expect(await supervisor.stop()).toEqual([]);
    expect(supervisor.states()[0]).toMatchObject({ status: 'stopped', lastError: { message: 'no luck' } });
  });

  it('restarts with the shortest delay after a healthy run', async () => {
    const clock = manualClock(0);
    const runsMs = [0, 0, 1000, 0];
    const run = async () => {
      await clock.sleep(runsMs.shift() ?? 1e9);
      throw new Error('fell');
    };
    const { lines } = supervise([{ name: 'w', run }], { backoffFirstMs: 100, healthyMs: 1000 }, clock);
    await clock.advance(5000);
    expect(lines.map(line => line.delayMs)).toEqual([100, 200, 100, 200]);
  });

  it('keeps the last error visible while the worker runs again', async () => {
    let failed = false;
    const run = async (signal: AbortSignal) => {
      if (failed) return untilAborted(signal);
      failed = true;
      throw new Error('once');
    };
    const { clock, supervisor } = supervise([{ name: 'w', run }]);
    await clock.advance(1000);
    expect(supervisor.states()[0]).toMatchObject({
      status: 'running',
      restarts: 1,
      lastError: { message: 'once' },
    });
  });

  it.each([
    ['returns early', async () => {}, 'The worker returned before it was stopped'],
    [
      'throws before its first await',
      (): Promise<void> => {
        throw new Error('at once');
      },
      'at once',
    ],
    ['rejects with no error', () => Promise.reject('a text'), 'a text'],
    ['rejects with nothing', () => Promise.reject(), 'The worker threw nothing'],
    [
      'rejects with an abort of its own',
      async () => AbortSignal.abort().throwIfAborted(),
      'This operation was aborted',
    ],
  ])('treats a worker that %s as failed', async (_, run, message) => {
    const { clock, supervisor } = supervise([{ name: 'w', run }]);
    await clock.advance(0);
    expect(supervisor.states()[0]).toMatchObject({ status: 'backing-off', lastError: { message } });
  });

  it('does not let one failing worker disturb another', async () => {
    const fail = async () => Promise.reject(new Error('no'));
    const { clock, supervisor } = supervise([
      { name: 'bad', run: fail },
      { name: 'good', run: untilAborted },
    ]);
    await clock.advance(100_000);
    expect(supervisor.states()[1]).toEqual({ name: 'good', status: 'running', sinceMs: 0, restarts: 0 });
  });

  it('waits for a slow worker, but not past the deadline', async () => {
    const after =
      (ms: number): Worker['run'] =>
      signal =>
        untilAborted(signal).then(() => clock.sleep(ms));
    const { clock, lines, supervisor } = supervise(
      [
        { name: 'slow', run: after(900) },
        { name: 'stuck', run: after(5000) },
      ],
      { stopMs: 1000 },
    );
    let late: string[] | undefined;
    void supervisor.stop().then(names => {
      late = names;
    });
    await clock.advance(999);
    expect(late).toBeUndefined();
    await clock.advance(1);
    expect(late).toEqual(['stuck']);
    expect(supervisor.states().map(state => state.status)).toEqual(['stopped', 'running']);
    expect(lines).toMatchObject([{ worker: 'stuck', msg: 'worker did not stop in time' }]);
    await clock.advance(4000);
    expect(supervisor.states()[1]).toMatchObject({ status: 'stopped' });
  });

  it('accepts an abort as a clean end and reports any other failure on the way out', async () => {
    const clock = manualClock(0);
    const sleep: Worker['run'] = signal => clock.sleep(1e9, signal);
    const spill: Worker['run'] = signal =>
      untilAborted(signal).then(() => Promise.reject(new Error('spilled')));
    const workers = [
      { name: 'sleeper', run: sleep },
      { name: 'clumsy', run: spill },
    ];
    const { lines, supervisor } = supervise(workers, {}, clock);
    await supervisor.stop();
    expect(lines).toMatchObject([{ worker: 'clumsy', msg: 'worker failed while stopping' }]);
    expect(supervisor.states().map(state => state.status)).toEqual(['stopped', 'stopped']);
  });

  it('refuses two workers with one name', () => {
    expect(() => supervise(['a', 'a'].map(name => ({ name, run: untilAborted })))).toThrow('same name');
  });
});

describe('restartMs', () => {
  it('spreads each delay over its upper half', () => {
    expect([restartMs(3, () => 0), restartMs(3, () => 1)]).toEqual([400, 800]);
    expect(restartMs(10_000, () => 1)).toBe(30_000);
  });
});
