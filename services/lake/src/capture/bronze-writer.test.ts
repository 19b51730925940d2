import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { expect, it } from 'vitest';
import { createBronzeFiles } from './bronze-writer.ts';
import type { Row } from './rows.ts';

const optional = (text: fc.Arbitrary<string>) => fc.option(text, { nil: undefined });
const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.constantFrom('', '{"a":1}', 'ä', '𝄞'));
const few = fc.constantFrom('usr_ann', 'usr_bob', 'Jörg');
const row: fc.Arbitrary<Row> = fc.record({
  entity: fc.constantFrom('chore', 'visit'),
  kind: fc.constantFrom('insert', 'modify', 'remove', 'expire', 'snapshot'),
  key: text,
  sequence: fc.nat().map(String),
  eventId: text,
  at: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_000 + 3 * 86_400_000 }),
  owner: fc
    .record({ account_id: optional(few), tenant_id: optional(text), user_id: optional(few) })
    .map(owner => owner as Row['owner']),
  old: optional(text),
  new: optional(text),
  isChained: fc.boolean(),
});

const asRead = ({ entity: _, owner, eventId, at, isChained, ...one }: Row) => ({
  kind: one.kind,
  key: one.key,
  sequence: one.sequence,
  generation: 7,
  shard: 'shard-1',
  event_id: eventId,
  at: new Date(at),
  account_id: owner.account_id ?? null,
  tenant_id: owner.tenant_id ?? null,
  user_id: owner.user_id ?? null,
  old: one.old ?? null,
  new: one.new ?? null,
  chained: isChained,
});

async function writeAll(rows: readonly Row[]) {
  const files = await createBronzeFiles('shard-1', 7);
  for (const row of rows) files.add(row);
  return files.finish();
}

const fileOf = (body: Uint8Array): ArrayBuffer => new Uint8Array(body).buffer;

it('writes what any reader reads, one file for each entity and day', async () => {
  const rowsOfFile = fc.array(row, { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(rowsOfFile, async rows => {
      const files = await writeAll(rows);
      expect(files.reduce((sum, one) => sum + one.rows, 0)).toBe(rows.length);
      for (const { entity, day, body, ...about } of files) {
        const own = rows.filter(
          row => row.entity === entity && new Date(row.at).toISOString().startsWith(day),
        );
        expect(await parquetReadObjects({ file: fileOf(body) })).toEqual(own.map(asRead));
        expect(about).toEqual({
          rows: own.length,
          first: own[0]!.sequence,
          last: own.at(-1)!.sequence,
          firstAt: Math.min(...own.map(({ at }) => at)),
          isChained: own.every(one => one.isChained),
          hasOnlyInserts: own.every(({ kind }) => kind === 'insert'),
        });
      }
    }),
    { numRuns: process.env.STAK_LONG_TESTS ? 60 : 20 },
  );
});

it('writes groups of rows with statistics, and the same bytes again', async () => {
  const rows = Array.from(
    { length: 2500 },
    (_, i): Row => ({
      entity: 'chore',
      kind: i % 2 === 0 ? 'insert' : 'modify',
      key: `k${String(i).padStart(5, '0')}`,
      sequence: String(i).padStart(21, '0'),
      eventId: `e${i % 9}`,
      at: 1_700_000_000_000 + i,
      owner: { account_id: i < 1000 ? 'usr_ann' : 'Jörg' },
      old: i % 2 === 0 ? undefined : 'x'.repeat(i),
      new: 'ä'.repeat(i % 50),
      isChained: i !== 700,
    }),
  );
  const [file] = await writeAll(rows);
  expect(await parquetReadObjects({ file: fileOf(file!.body) })).toEqual(rows.map(asRead));
  const [again] = await writeAll(rows);
  expect(Buffer.compare(file!.body, again!.body)).toBe(0);

  const { row_groups } = parquetMetadata(fileOf(file!.body));
  expect(row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([1000, 1000, 500]);
  const statisticsOf = (group: number, name: string) =>
    row_groups[group]!.columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name)!.meta_data!
      .statistics;
  expect(statisticsOf(1, 'key')).toMatchObject({ min_value: 'k01000', max_value: 'k01999', null_count: 0n });
  expect(statisticsOf(0, 'account_id')).toMatchObject({ min_value: 'usr_ann', max_value: 'usr_ann' });
  expect(statisticsOf(1, 'account_id')?.min_value).toBeUndefined(); // not ASCII
  expect(statisticsOf(0, 'old')).toMatchObject({ null_count: 500n });
  expect(statisticsOf(0, 'chained')).toMatchObject({ min_value: false, max_value: true });
  expect(statisticsOf(2, 'chained')).toMatchObject({ min_value: true, max_value: true });
});
