import { describe, expect, it } from 'vitest';
import { describeVerdict, failures } from '../src/gates.ts';
import type { Measure } from '../src/harness.ts';
import { printResults as printInbox } from '../src/inbox/report.ts';
import { type Results as InboxResults, judgeResults as judgeInbox } from '../src/inbox/targets.ts';
import { judgeResults as judgeNeighbours } from '../src/neighbours/targets.ts';
import { chooseParts } from '../src/parts.ts';
import type { ServerMeasure } from '../src/server/rounds.ts';
import { judgeResults as judgeTasks, type Results as TasksResults } from '../src/tasks/targets.ts';
import type { Machine, MachineRow } from '../src/webhooks/machine.ts';
import { judgeResults as judgeWebhooks, type Results as WebhookResults } from '../src/webhooks/targets.ts';

const at = (p50Ms: number, p99Ms = p50Ms): Measure => ({
  opsPerSecond: 1000 / p50Ms,
  p50Ms,
  p99Ms,
  rounds: [],
});
const rate = (opsPerSecond: number): ServerMeasure => ({
  opsPerSecond,
  p50Ms: 1,
  p99Ms: 2,
  rounds: [],
  cpuUs: 30,
});
const missed = (verdicts: Parameters<typeof failures>[0]) => failures(verdicts).map(describeVerdict);

describe('the targets of the inbox bench', () => {
  const atTheirBounds: InboxResults = {
    cost: {
      few: 10,
      many: 1_000_000,
      broadcastToFew: 10,
      broadcastToMany: 10,
      fanOut: 2,
      publish: 10,
      feed: { queries: 2, readUnits: 7 },
      counts: { gets: 2, readUnits: 2 },
    },
    reading: {
      short: 1000,
      long: 100_000,
      broadcasts: 200,
      measures: {
        'two queries': at(1),
        'feed, short': at(3),
        'feed, long': at(4.5),
        'a get': at(0.01),
        'counts, short': at(0.04),
        'counts, long': at(0.06),
      },
    },
    requests: { constant: rate(10_000), feed: rate(1200), counts: rate(3000), publish: rate(2000) },
    streaming: { ...at(5, 49.9), p95Ms: 20, calls: 1000, streams: 500, perSecond: 200 },
  };

  it('are met at their bounds', () => {
    expect(missed(judgeInbox(atTheirBounds, ['cost', 'reading', 'requests', 'streaming']))).toEqual([]);
  });

  it('name what was missed', () => {
    const { cost, requests, streaming } = atTheirBounds;
    const worse: InboxResults = {
      cost: { ...cost!, broadcastToMany: 11 },
      requests: { ...requests!, publish: rate(1900) },
      streaming: { ...streaming!, p99Ms: 50 },
    };
    expect(missed(judgeInbox(worse, []))).toEqual([
      'missed        write units of a broadcast, to many users over few: at most 1.00x (1.10x)',
      'missed        publish over HTTP, requests a second, of the constant: at least 20 % (19 %)',
      'missed        publish until it is on the event stream, p99: below 50 ms (50 ms)',
    ]);
  });

  it('are printed beside the usual approach', () => {
    expect(printInbox(atTheirBounds)).toContain('it would cost 2 a user, 2,000,000 in all');
  });
});

describe('the targets of the webhooks bench', () => {
  const delivery = {
    perSecond: 300,
    direct: at(1, 2),
    delivered: at(4, 20),
    slowDestinations: 1000,
    alone: at(3),
    besideSlow: at(6),
  };
  const machineSettings: Machine['settings'] = {
    rounds: 1,
    warmUpEvents: 0,
    steadyMs: 1000,
    events: 10_000,
    paces: { often: { perSecond: 200, durationMs: 1000 }, seldom: { perSecond: 50, durationMs: 1000 } },
    killedAfter: 100,
  };
  const machineRow: MachineRow = {
    workers: 2,
    deliveredPerSecond: 2800,
    throughMs: 4000,
    busyCpuUs: 600,
    oftenCpuUs: 1000,
    seldomCpuUs: 3000,
    often: { p50Ms: 2, p95Ms: 6, p99Ms: 20 },
    privateMb: 300,
    afterKillMs: 5000,
  };
  const atTheirBounds: WebhookResults = {
    requests: { constant: rate(10_000), alone: rate(3000), owing: rate(2500), delivering: rate(1000) },
    delivery,
    growth: [
      { stored: 10_000, measure: at(1), longestGapMs: 20 },
      { stored: 1_000_000, measure: at(1.4), longestGapMs: 100 },
    ],
    retries: {
      retries: 100_000,
      made: 100_000,
      drainedMs: 60_000,
      perSecond: 100,
      ingest: { ...at(5, 99), p95Ms: 50, calls: 1000 },
    },
    units: { event: 7, eventAndDelivery: 10, attempt: 8 },
    machine: {
      settings: machineSettings,
      rows: [{ ...machineRow, workers: 1, deliveredPerSecond: 2000 }, machineRow],
    },
  };
  const parts = ['requests', 'units', 'delivery', 'growth', 'retries', 'machine'] as const;

  it('are met at their bounds', () => {
    expect(missed(judgeWebhooks(atTheirBounds, parts))).toEqual([]);
  });

  it('compare an event with its deliveries, like with like', () => {
    const worse: WebhookResults = {
      requests: { ...atTheirBounds.requests!, owing: rate(2400) },
      delivery: { ...delivery, delivered: at(4.1, 21) },
      growth: atTheirBounds.growth!.map(row => ({ ...row, longestGapMs: row.longestGapMs + 1 })),
    };
    expect(failures(judgeWebhooks(worse, [])).map(({ measured }) => measured)).toEqual([24, 101, 4.1, 10.5]);
  });

  it('compare two workers with one', () => {
    const rows = [machineRow, { ...machineRow, busyCpuUs: 601, afterKillMs: 5001 }];
    expect(missed(judgeWebhooks({ machine: { settings: machineSettings, rows } }, []))).toEqual([
      'missed        delivered, two workers over one: at least 1.40x (1.00x)',
      'missed        processor time of an event with its delivery, busy: at most 600 µs (601 µs)',
      'missed        from the start after kill -9 until the last acknowledged event: at most 5000 ms (5001 ms)',
    ]);
  });
});

describe('the targets of the tasks bench', () => {
  const both = (name: string, small: number, large: number) => ({
    [`${name}, small`]: at(small),
    [`${name}, large`]: at(large),
  });
  const operations = (list: number, create: number): NonNullable<TasksResults['operations']> => ({
    small: 1000,
    large: 1_000_000,
    measures: {
      ...both('query', 1, 1),
      ...both('create', 1, create),
      ...both('get', 1, 1),
      ...both('list', list, list),
      ...both('status', 1, 1),
    } as NonNullable<TasksResults['operations']>['measures'],
  });
  const searching = (scan: number) => ({ tasks: 100_000, measures: { search: at(1), scan: at(scan) } });

  it('are met at their bounds and missed beyond them', () => {
    const parts = ['operations', 'search'] as const;
    expect(missed(judgeTasks({ operations: operations(3, 1.49), search: searching(20) }, parts))).toEqual([]);
    expect(
      missed(judgeTasks({ operations: operations(3.1, 1.5), search: searching(19) }, parts)),
    ).toHaveLength(3);
  });

  it('fail when a requested part could not be measured', () => {
    expect(failures(judgeTasks({}, ['search']))).toHaveLength(1);
    expect(failures(judgeTasks({}, []))).toHaveLength(0);
  });
});

it('run the parts that --only names, and refuse unknown ones', () => {
  expect(chooseParts(['a', 'b'], [])).toEqual(['a', 'b']);
  expect(chooseParts(['a', 'b'], ['b'])).toEqual(['b']);
  expect(() => chooseParts(['a', 'b'], ['c'])).toThrow('--only knows a, b');
});

describe('the targets of the neighbours bench', () => {
  const latency = (p99Ms: number) => ({ p50Ms: 1, p99Ms, slowestMs: p99Ms });
  const all = (p99Ms: number) => ({ ingest: latency(p99Ms), feed: latency(p99Ms), turn: latency(p99Ms) });
  const base = { quiet: all(10), events: 100, lost: 0, answered: {} };

  it('are met at three times the quiet p99, and nothing lost', () => {
    expect(missed(judgeNeighbours({ ...base, attacked: all(30) }))).toEqual([]);
  });

  it('name what was missed', () => {
    const attacked = { ...all(30), turn: latency(31) };
    expect(missed(judgeNeighbours({ ...base, attacked, lost: 1 }))).toEqual([
      expect.stringContaining('a turn that a rule answers'),
      expect.stringContaining('did not arrive'),
    ]);
  });
});
