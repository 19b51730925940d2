import { createEngine } from '../../src/index.ts';
import type { Outcome } from './limits.ts';

// Opens a store and, if told to, writes until the disk has refused often enough. Says what happened.

const [path, mode] = process.argv.slice(2) as [string, 'open' | 'fill'];
const outcome: Outcome = { opened: false, acknowledged: [], errors: [] };
const refusals = 40;

async function fill(): Promise<void> {
  const engine = await createEngine({ path, sweepIntervalMs: 0 });
  outcome.opened = true;
  const write = async (writer: number) => {
    for (let n = 0; mode === 'fill' && outcome.errors.length < refusals; n++) {
      const pk = `${writer}-${n}`;
      await engine.client.put({ TableName: 'items', Item: { pk, body: 'x'.repeat(2000) } }).then(
        () => outcome.acknowledged.push(pk),
        error => outcome.errors.push(`${error.name}: ${error.message}`),
      );
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
  const { Item } = await engine.client.get({ TableName: 'items', Key: { pk: '0-0' } });
  outcome.readable = Item !== undefined;
  outcome.problems = engine.check().problemCount;
  await engine.close();
}

await fill().catch(error => outcome.errors.push(`${error.name}: ${error.message}`));
console.log(JSON.stringify(outcome));
