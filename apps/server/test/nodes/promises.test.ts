import { expect, test } from 'vitest';
import { stolenMost } from './machine.ts';
import { deliveriesMs, judge, streamsMs } from './promises.ts';
import type { Found } from './servers-under-load.ts';

const calm = { wasStoreSlow: false, stolen: 0 };
const kill = (more: Partial<Found['kills'][number]> = {}): Found['kills'][number] => ({
  streams: { seen: 5000, ...calm },
  delivery: { seen: 9000, ...calm },
  failures: { seen: [], ...calm },
  ...more,
});
const found = (more: Partial<Found> = {}): Found => ({
  violations: [],
  heardMs: { p50: 300, p95: 700, most: 900, count: 1000 },
  stolen: 0,
  kills: Array.from({ length: 20 }, () => kill()),
  ...more,
});

test('what is late on a quiet machine breaks a promise', () => {
  expect(judge(found())).toEqual({ broken: [], unjudged: [] });
  const late = [
    kill({ streams: { seen: streamsMs + 1, ...calm } }),
    kill({ delivery: { seen: deliveriesMs + 1, ...calm } }),
    kill({ failures: { seen: ['GET /: 500'], ...calm } }),
  ];
  expect(judge(found({ kills: late })).broken).toHaveLength(3);
  expect(judge(found({ heardMs: { p50: 1, p95: 1001, most: 2000, count: 1000 } })).broken).toHaveLength(1);
  const few = judge(found({ heardMs: { p50: 1, p95: 1001, most: 2000, count: 100 } }));
  expect([few.broken.length, few.unjudged.length]).toEqual([0, 1]);
});

test('without its processors a server is not judged, but for its data', () => {
  const stolen = stolenMost + 0.01;
  const late = kill({ streams: { seen: streamsMs + 1, wasStoreSlow: false, stolen } });
  const { broken, unjudged } = judge(
    found({
      violations: ['an event was lost'],
      stolen,
      heardMs: { p50: 1, p95: 1001, most: 2000, count: 1000 },
      kills: [late],
    }),
  );
  expect(broken).toEqual(['an event was lost']);
  expect(unjudged).toHaveLength(2);
});

test('a slow store excuses few kills, and not many', () => {
  const slow = kill({ streams: { seen: streamsMs + 1, wasStoreSlow: true, stolen: 0 } });
  const kills = Array.from({ length: 18 }, () => kill());
  expect(judge(found({ kills: [...kills, slow, kill()] })).broken).toEqual([]);
  expect(judge(found({ kills: [...kills, slow, slow, slow] })).broken).toHaveLength(1);
});
