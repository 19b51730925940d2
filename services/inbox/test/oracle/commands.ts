import fc from 'fast-check';
import type { Policy } from './model.ts';

// What may happen to an inbox. Messages are picked by number, from all there ever were: also expired and redacted
// ones, and those of others.

export const users = ['ann', 'bob', 'cem', 'dot'];
const categories = ['billing', 'news', 'constructor'];

const uid = fc.constantFrom(...users);
const busyUid = fc.constantFrom('ann', 'ann', 'ann', ...users); // much happens to one, so that it adds up
const category = fc.constantFrom(undefined, ...categories);
const ttl = fc.oneof(fc.integer({ min: 1, max: 25 }), fc.integer({ min: 1, max: 400 }));
const pick = fc.oneof(fc.nat({ max: 60 }), fc.integer({ min: -6, max: -1 })); // from the beginning, or the last
const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const kind = <K extends string>(name: K) => fc.constant(name);

const content = { category, ttl };
const publish = fc.record({
  do: kind('publish'),
  uids: fc.uniqueArray(uid, { minLength: 1, maxLength: 4 }),
  repeats: fc.nat({ max: 1 }),
  ...content,
});
const broadcast = fc.record({ do: kind('broadcast'), repeats: fc.nat({ max: 1 }), ...content });
const schedule = fc.record({
  do: kind('schedule'),
  uids: fc.option(fc.uniqueArray(uid, { minLength: 1, maxLength: 4 }), { nil: undefined, freq: 2 }),
  delay: fc.integer({ min: 1, max: 20 }),
  ...content,
});
const correct = fc.record({
  do: kind('correct'),
  pick,
  uids: fc.option(fc.uniqueArray(uid, { minLength: 1, maxLength: 4 }), { nil: undefined, freq: 2 }),
  ...content,
});
const bulk = fc.record({ do: kind('bulk'), messages: fc.array(publish, { minLength: 1, maxLength: 4 }) });
const mark = fc.record({
  do: kind('mark'),
  uid: busyUid,
  as: fc.constantFrom('read', 'read', 'unread', 'unread', 'seen', 'archive', 'unarchive', 'unsnooze'),
  picks: fc.array(pick, { minLength: 1, maxLength: 6 }),
});
const snooze = fc.record({
  do: kind('snooze'),
  uid: busyUid,
  pick,
  seconds: fc.integer({ min: 1, max: 30 }),
});
const markAll = fc.record({
  do: kind('markAll'),
  uid: busyUid,
  as: fc.constantFrom('read' as const, 'read' as const, 'seen' as const),
  since: rarely(fc.integer({ min: -60, max: 5 })),
  as_of: rarely(fc.integer({ min: -60, max: 5 })),
  category: rarely(fc.constantFrom(...categories)),
});
const redact = fc.record({ do: kind('redact'), pick, byHostId: fc.boolean() });
const deleteCategory = fc.record({ do: kind('deleteCategory'), category: fc.constantFrom(...categories) });
const join = fc.record({ do: kind('join'), uid });
const advance = fc.record({ do: kind('advance'), ms: fc.integer({ min: 1, max: 20_000 }) });
const sweep = fc.record({ do: kind('sweep'), lag: fc.constantFrom(0, 3, 15, 60) });
const runDue = fc.record({ do: kind('runDue') });
const records = fc.record({ do: kind('records'), seed: fc.nat(), twice: fc.boolean() });

const plain = fc.oneof(
  { weight: 6, arbitrary: publish },
  { weight: 5, arbitrary: broadcast },
  { weight: 2, arbitrary: schedule },
  { weight: 3, arbitrary: correct },
  { weight: 1, arbitrary: bulk },
  { weight: 7, arbitrary: mark },
  { weight: 2, arbitrary: snooze },
  { weight: 4, arbitrary: markAll },
  { weight: 3, arbitrary: redact },
  { weight: 1, arbitrary: deleteCategory },
  { weight: 2, arbitrary: join },
  { weight: 6, arbitrary: advance },
  { weight: 3, arbitrary: sweep },
  { weight: 3, arbitrary: runDue },
  { weight: 3, arbitrary: records },
);
// Things that come to the same in any order.
const together = fc.record({
  do: kind('together'),
  all: fc.array(fc.oneof(publish, broadcast), { minLength: 2, maxLength: 6 }),
  reads: fc.uniqueArray(pick, { minLength: 1, maxLength: 6 }),
});
// The process dies before or after one of its next writes, and somebody tries again.
const crash = fc.record({ do: kind('crash'), write: fc.nat({ max: 5 }), after: fc.boolean() });

export type Plain = typeof plain extends fc.Arbitrary<infer C> ? C : never;
export type Command =
  | Plain
  | (typeof together extends fc.Arbitrary<infer C> ? C : never)
  | (typeof crash extends fc.Arbitrary<infer C> ? C : never);

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 12, arbitrary: plain },
  { weight: 2, arbitrary: together },
  { weight: 3, arbitrary: crash },
);

const policy: fc.Arbitrary<Policy> = fc.oneof(
  fc.constant<Policy>('all'),
  fc.constant<Policy>('none'),
  fc.integer({ min: 1, max: 3 }).map(last => ({ last })),
);

export type History = { policy: Policy; recipientsTogether: number; commands: Command[] };

export const histories = (length: number): fc.Arbitrary<History> =>
  fc.record({
    policy,
    recipientsTogether: fc.constantFrom(1, 2, 18),
    commands: fc.array(command, { minLength: Math.ceil(length / 3), maxLength: length, size: 'max' }),
  });
