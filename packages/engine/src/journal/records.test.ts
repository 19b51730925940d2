import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRecordBuilder, JournalDamage, type Operation, readOperations, readRecord } from './records.ts';

function build(operations: readonly Operation[]) {
  const builder = createRecordBuilder();
  builder.put(Buffer.from('left over'), Buffer.alloc(1000));
  builder.clear();
  for (const { key, value } of operations) {
    if (value) builder.put(key, value);
    else builder.remove(key);
  }
  return builder;
}

const read = (bytes: Buffer): Operation[] => [...readOperations(bytes)];

const bytes = (most: number) => fc.uint8Array({ maxLength: most }).map(array => Buffer.from(array));
const large = fc.constantFrom(127, 128, 129, 500).map(length => Buffer.alloc(length, 'item'));
// Values that often end like one before.
const value = fc.oneof(
  bytes(200),
  large,
  fc.tuple(bytes(40), large).map(parts => Buffer.concat(parts)),
  fc.constant(undefined),
);

describe('the record of a commit', () => {
  it('round-trips every operation, also if a value ends like another one', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ key: bytes(60), value }), { maxLength: 30 }), operations => {
        const wanted = operations.map(({ key, value: one }) => (one ? { key, value: one } : { key }));
        expect(read(build(wanted).operations())).toEqual(wanted);
      }),
    );
  });

  it('stores an item once if its change record repeats it', () => {
    const item = Buffer.alloc(1000, 'item');
    const key = Buffer.from('k');
    const twice = [
      { key, value: item },
      { key, value: Buffer.from('small') },
      { key, value: Buffer.concat([Buffer.from('head'), item]) },
    ];
    expect(build(twice).operations().length).toBeLessThan(1100);
    expect(read(build(twice).operations())).toEqual(twice);
  });

  it('is refused if it does not follow the previous one, or is truncated', () => {
    const before = { commit: 6, chain: 12345 };
    const { record, chain } = build([{ key: Buffer.from('a'), value: Buffer.from('b') }]).seal(
      7,
      99,
      before.chain,
    );
    expect(readRecord(record, 0, before)).toMatchObject({ commit: 7, at: 99, chain });
    expect(readRecord(record.subarray(0, record.length - 1), 0, before)).toBeUndefined();
    expect(() => readRecord(record, 0, { ...before, chain: 1 })).toThrow(JournalDamage);
    expect(() => readRecord(record, 0, { ...before, commit: 5 })).toThrow(/commit 6 is missing/);
    const damaged = Buffer.from(record);
    damaged[record.length - 1]! ^= 1;
    expect(() => readRecord(damaged, 0, before)).toThrow(/commit 7 is damaged/);
    expect(() => read(record.subarray(22, record.length - 1))).toThrow(/cut short/);
  });
});
