import { writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { createEngine, type Engine } from '../../src/index.ts';
import { type Control, encodeMessage, type Message, type Theme } from './journal.ts';
import { createRandom } from './random.ts';
import {
  addLateIndex,
  createScratchTable,
  dropLateIndex,
  dropTable,
  enableExpiry,
  lateIndex,
} from './tables.ts';
import { execute, planOperation, tableName, writerCount } from './workload.ts';

// The process that is going to be killed. It never ends by itself.

const [folder, seed, round, theme, first] = process.argv.slice(2) as [string, string, string, Theme, string];
const isExpiring = theme === 'sweep' || theme === 'expiring';
const journalPipe = 3;

// Blocks until the parent's end has it, so that what a line says happened before anything after it.
const report = (message: Message): void => {
  writeSync(journalPipe, encodeMessage(message));
};

async function attempt(id: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
    report({ type: 'done', id });
  } catch (error) {
    report({ type: 'failed', id, reason: String(error) });
  }
}

async function write(engine: Engine, writer: number): Promise<never> {
  const random = createRandom(seed, round, writer);
  for (let n = 0; ; n++) {
    const operation = planOperation(random, `${round}.${writer}.${n}`, writer, isExpiring);
    report({ type: 'operation', operation });
    await attempt(operation.id, () => execute(engine.client, operation));
  }
}

async function changeTables(engine: Engine): Promise<void> {
  let n = 0;
  const control = (action: Control['action'], target: string, work: () => Promise<unknown>) => {
    const id = `${round}.control.${n++}`;
    report({ type: 'control', control: { id, action, target } });
    return attempt(id, work);
  };
  const load = (name: string) => control('load', name, () => loadTable(engine, name));
  while (theme !== 'writes' && theme !== 'expiring') {
    const name = `scratch-${round}-${n}`;
    if (theme === 'index') {
      await control('add-index', lateIndex, () => addLateIndex(engine));
      await engine.settled();
      await control('drop-index', lateIndex, () => dropLateIndex(engine));
      await engine.settled();
    } else if (theme === 'sweep') {
      await control('sweep', tableName, () => engine.sweep());
      // A sweep that finds nothing does not wait for anything, and would keep the writers from their turn.
      await setImmediate();
    } else {
      await control('create-table', name, () => createScratchTable(engine, name));
      await load(name);
      if (theme === 'expiry') await control('enable-expiry', name, () => enableExpiry(engine, name));
      await control('drop-table', name, () => dropTable(engine, name));
    }
  }
}

async function loadTable(engine: Engine, name: string): Promise<void> {
  const expires = Math.floor(Date.now() / 1000) + 3600;
  const puts = Array.from({ length: 1200 }, (_, i) =>
    engine.client.put({ TableName: name, Item: { pk: `item-${i}`, owner: `owner-${i % 7}`, expires } }),
  );
  await Promise.all(puts);
}

report({ type: 'opening' });
const engine = await createEngine({ path: folder, sweepIntervalMs: 0 });
report({ type: 'opened' });
await Promise.all([
  changeTables(engine),
  ...Array.from({ length: writerCount }, (_, writer) => write(engine, Number(first) + writer)),
]);
