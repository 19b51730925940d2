import { createEngine, type Engine } from '../../src/index.ts';

// A small store with everything in it: items of one page and of several, an index, a stream, expiry and free pages.

export const TableName = 'notes';
const notes = 150;

export const keyOf = (n: number) => ({ pk: `p${n % 5}`, sk: n });

export const noteOf = (n: number) => ({
  ...keyOf(n),
  owner: `o${n % 7}`,
  ttl: 2_000_000_000 + n,
  text: `${n}-`.repeat(n % 25 === 0 ? 5000 : 1 + (n % 40)),
  tags: new Set([`a${n}`, 'b']),
});

export const numbers = Array.from({ length: notes }, (_, n) => n);

export async function createNotes(path: string): Promise<void> {
  const engine = await createEngine({ path, sweepIntervalMs: 0 });
  await engine.execute('CreateTable', {
    TableName,
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'N' },
      { AttributeName: 'owner', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-owner',
        KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
    BillingMode: 'PAY_PER_REQUEST',
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
  });
  await engine.execute('UpdateTimeToLive', {
    TableName,
    TimeToLiveSpecification: { Enabled: true, AttributeName: 'ttl' },
  });
  await engine.settled();
  for (const n of numbers) await put(engine, n);
  for (const n of numbers) if (n % 3 === 0) await engine.client.delete({ TableName, Key: keyOf(n) });
  for (const n of numbers) if (n % 3 === 0) await put(engine, n);
  // A value that becomes shorter within one transaction keeps the pages of the longer one.
  const long = { ...noteOf(150), text: 'x'.repeat(100_000) };
  await Promise.all([engine.client.put({ TableName, Item: long }), put(engine, 150)]);
  await engine.client.delete({ TableName, Key: keyOf(150) });
  await engine.history!.maintain(new AbortController().signal);
  // After the snapshot: in the journal alone.
  for (const n of numbers.slice(0, 10)) await put(engine, n);
  await engine.close();
}

const put = (engine: Engine, n: number) => engine.client.put({ TableName, Item: noteOf(n) });
