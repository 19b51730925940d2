// Three servers behind a proxy, killed and restarted under load, on the engine over HTTP and on DynamoDB Local:
//   npm run test:nodes [-- --minutes N] [--kills N] [--store engine | dynamodb-local | http://…] [--seed N]
// Where Maven or Java is missing, or Maven cannot reach DynamoDB Local, it says so and runs on the engine only.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startDynamoDbLocal, whatDynamoDbLocalLacks } from './dynamodb-local.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    kills: { type: 'string' },
    store: { type: 'string' },
    seed: { type: 'string' },
  },
});
const { store, minutes, kills, seed } = values;

async function run(name: string, endpoint?: string): Promise<void> {
  const args = [
    ...[
      '--import',
      'tsx',
      join(import.meta.dirname, '../apps/server/test/nodes/campaign.ts'),
      '--name',
      name,
    ],
    ...(endpoint === undefined ? [] : ['--endpoint', endpoint]),
    ...(minutes === undefined ? [] : ['--minutes', minutes]),
    ...(kills === undefined ? [] : ['--kills', kills]),
    ...(seed === undefined ? [] : ['--seed', seed]),
  ];
  const [code] = (await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit')) as [number | null];
  if (code !== 0) process.exitCode = code ?? 1;
}

async function runOnDynamoDbLocal(): Promise<void> {
  const lacking = await whatDynamoDbLocalLacks();
  if (lacking !== undefined) {
    console.log(`dynamodb-local: skipped, ${lacking}`);
    return;
  }
  const { endpoint, stop } = await startDynamoDbLocal();
  await run('dynamodb-local', endpoint).finally(stop);
}

if (store?.startsWith('http')) await run('store', store);
else {
  if (store !== 'dynamodb-local') await run('engine');
  if (store !== 'engine') await runOnDynamoDbLocal();
}
