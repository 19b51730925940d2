// Three servers behind a proxy, killed and restarted under load, on the engine over HTTP and on DynamoDB Local:
//   npm run test:nodes [-- --minutes N] [--store engine | dynamodb-local | http://…] [--seed N]
// What the servers print goes to a file, whose name is printed.
import { execFileSync } from 'node:child_process';
import { createWriteStream, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startDynamoDbLocal, whatDynamoDbLocalLacks } from '../../scripts/dynamodb-local.ts';
import { runCampaign } from './campaign.ts';
import { startStore } from './cluster.ts';
import { judge } from './promises.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '0' },
    store: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const [forMs, seed] = [Number(values.minutes) * 60_000, Number(values.seed)];

// In a folder of its own: others are built anew by tests. Within the project, where the packages are found.
const root = join(import.meta.dirname, '../..');
const built = join(root, `apps/.nodes-${process.pid}`);
const command = join(built, 'dist/main.mjs');
process.on('exit', () => rmSync(built, { recursive: true, force: true }));
execFileSync(process.execPath, [
  join(root, 'apps/server/build.mjs'),
  join(root, 'apps/server/src/main.ts'),
  join(built, 'dist'),
]);

async function run(name: string, endpoint: string): Promise<void> {
  const file = join(tmpdir(), `stak-nodes-${process.pid}-${name}.log`);
  const note = (line: string) => console.log(`${name}: ${line}`);
  note(`seed ${seed}; what the servers print is in ${file}`);
  const log = createWriteStream(file);
  const found = await runCampaign({ command, endpoint, forMs, seed, note, log }).finally(() => log.end());
  note(
    `${found.streamsMs.length} kills; listeners heard after ${found.heardMs.p50} ms (p95 ${found.heardMs.p95})`,
  );
  const violations = judge(found);
  for (const violation of violations.slice(0, 20)) console.error(`${name}: ${violation}`);
  note(violations.length === 0 ? 'every promise held' : `${violations.length} promises were broken`);
  if (violations.length > 0) process.exitCode = 1;
}

async function runOnEngine(): Promise<void> {
  const store = await startStore(command);
  await run('engine', store.endpoint).finally(store.stop);
}

async function runOnDynamoDbLocal(): Promise<void> {
  const lacking = await whatDynamoDbLocalLacks();
  if (lacking !== undefined) {
    console.log(`dynamodb-local: skipped, ${lacking}`);
    return;
  }
  const store = await startDynamoDbLocal();
  await run('dynamodb-local', store.endpoint).finally(store.stop);
}

if (values.store?.startsWith('http')) await run('endpoint', values.store);
else {
  if (values.store !== 'dynamodb-local') await runOnEngine();
  if (values.store !== 'engine') await runOnDynamoDbLocal();
}
