import fc from 'fast-check';
import { expect, it } from 'vitest';
import { recentBytes, recentRecords } from '../limits.ts';
import { createRecent, type Entry } from './recent-records.ts';
import type { LazyRecord } from './records.ts';

const entryOf = (sequence: number, size: number): Entry => ({
  sequence,
  size,
  record: { eventID: String(sequence) } as LazyRecord,
});

// A log that grows at its end, and readers that begin anywhere and read pages of any size. Each reads through what is
// kept of the others' pages, and has to find every record once and in order.
it('gives every reader all records in order, no matter who has read them first', () => {
  let fromMemory = 0;
  const step = fc.oneof(
    fc.record({ gap: fc.integer({ min: 1, max: 3 }), size: fc.constantFrom(10, 1000, recentBytes / 3) }),
    fc.record({ reader: fc.nat(3), limit: fc.integer({ min: 1, max: 7 }) }),
    fc.record({ burst: fc.constant(recentRecords + 50) }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.nat(20), { minLength: 4, maxLength: 4 }),
      fc.array(step, { maxLength: 120 }),
      (starts, steps) => {
        const log: Entry[] = [];
        const recent = createRecent();
        const readers = starts.map(position => ({ start: position, position, seen: [] as string[] }));
        let last = 0;
        const write = (gap: number, size: number) => {
          last += gap;
          log.push(entryOf(last, size));
        };
        const read = (reader: (typeof readers)[number], limit: number) => {
          const { records, position, isFull } = recent.page(reader.position, limit);
          fromMemory += records.length;
          const room = isFull ? 0 : limit - records.length;
          const found = log.filter(one => one.sequence >= position).slice(0, room);
          recent.remember(position, found);
          reader.position = (found.at(-1)?.sequence ?? position - 1) + 1;
          const all = [...records, ...found.map(({ record }) => record)];
          reader.seen.push(...all.map(({ eventID }) => eventID));
          return all.length;
        };
        for (const one of steps) {
          if ('gap' in one) write(one.gap, one.size);
          else if ('burst' in one) for (let i = 0; i < one.burst; i++) write(1, 10);
          else read(readers[one.reader]!, one.limit);
        }
        for (const reader of readers) {
          while (read(reader, 100) > 0);
          const due = log
            .filter(({ sequence }) => sequence >= reader.start)
            .map(({ record }) => record.eventID);
          expect(reader.seen).toEqual(due);
        }
      },
    ),
    { numRuns: 200 },
  );
  expect(fromMemory).toBeGreaterThan(100);
});
