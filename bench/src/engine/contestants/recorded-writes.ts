import { createEngine, type Engine } from '@stak/engine';
import { categoryStatus, counter, createTable, idAt, tableName, userName } from '../data.ts';
import { type Arrival, putInput, transactionInput, updateInput } from '../operations.ts';
import { openRaw } from './raw-store.ts';

// Finds the exact keys and bytes that one operation adds to the engine's file, by comparing the file before and after.
// They become templates for other users, ids and times.

export type Write = { key: Buffer; value: Buffer };
export type Template = { key(names: Names): Buffer; value(names: Names): Buffer };
// Items are read before they are written; index entries and size counters are only written.
export type Recording = { items: Template[]; entries: Template[]; sizes: Template[] };
export type Recordings = Record<'put' | 'update' | 'transaction', Recording>;
export type Names = { user: string; id: string; created: string; category: string };

const sizeBytes = 16; // item count and bytes, two doubles

export const namesOf = ({ user, id, atMs, category }: Arrival): Names => ({
  user: userName(user),
  id,
  created: new Date(atMs).toISOString(),
  category: categoryStatus(category),
});

const arrivalOf = (serial: number): Arrival => ({
  user: 90_000_000,
  id: idAt(1.7e12 + serial, serial),
  atMs: 1.7e12 + serial,
  category: serial,
});

export async function recordWrites(folder: string): Promise<Recordings> {
  const [first, second, third] = [arrivalOf(1), arrivalOf(2), arrivalOf(3)] as [Arrival, Arrival, Arrival];
  await withEngine(folder, async engine => {
    await engine.execute('CreateTable', createTable);
    await engine.client.put({ TableName: tableName, Item: counter(first.user) });
    // Creates the size counters, which the recorded operations then change.
    await engine.client.put(putInput(first));
  });
  const record = async (arrival: Arrival, run: (engine: Engine) => Promise<unknown>) => {
    const before = await readAll(folder);
    await withEngine(folder, run);
    return sortWrites(difference(before, await readAll(folder)), namesOf(arrival));
  };
  return {
    update: await record(first, engine => engine.client.update(updateInput(first.user))),
    put: await record(second, engine => engine.client.put(putInput(second))),
    transaction: await record(third, engine => engine.client.transactWrite(transactionInput(third))),
  };
}

async function withEngine(folder: string, work: (engine: Engine) => Promise<unknown>): Promise<void> {
  const engine = await createEngine({ path: folder });
  try {
    await work(engine);
  } finally {
    await engine.close();
  }
}

async function readAll(folder: string): Promise<Map<string, Write>> {
  const db = openRaw(folder);
  const all = new Map<string, Write>();
  for (const { key, value } of db.getRange({})) all.set(key.toString('latin1'), { key, value });
  await db.close();
  return all;
}

const difference = (before: Map<string, Write>, after: Map<string, Write>): Write[] =>
  [...after].filter(([key, { value }]) => !before.get(key)?.value.equals(value)).map(([, write]) => write);

function sortWrites(writes: Write[], names: Names): Recording {
  const isEntry = ({ value }: Write) => writes.some(({ key }) => key.equals(value));
  const recording: Recording = { items: [], entries: [], sizes: [] };
  for (const write of writes) {
    const template = { key: compile(write.key, names), value: compile(write.value, names) };
    if (write.value.length === sizeBytes) recording.sizes.push(template);
    else if (isEntry(write)) recording.entries.push(template);
    else recording.items.push(template);
  }
  return recording;
}

// All names of a kind have the same length, so lengths inside the bytes stay correct.
function compile(bytes: Buffer, names: Names): (names: Names) => Buffer {
  const slots = new Map(Object.entries(names).map(([slot, name]) => [name, slot as keyof Names]));
  const pieces = bytes.toString('latin1').split(new RegExp(`(${[...slots.keys()].join('|')})`));
  return next => {
    let text = '';
    for (const piece of pieces) {
      const slot = slots.get(piece);
      text += slot ? next[slot] : piece;
    }
    return Buffer.from(text, 'latin1');
  };
}
