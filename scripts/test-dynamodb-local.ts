// Runs the tests that take a DYNAMODB_ENDPOINT against Amazon's DynamoDB Local, fetched with Maven:
//   npm run test:dynamodb-local [-- paths of tests]
// Where Maven or Java is missing, or Maven cannot reach the artifact, it says so and ends well.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startDynamoDbLocal, whatDynamoDbLocalLacks } from './dynamodb-local.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const lacking = await whatDynamoDbLocalLacks();
if (lacking) console.log(`Skipped: ${lacking}`);
else process.exitCode = await runTests(process.argv.slice(2));

async function runTests(paths: string[]): Promise<number> {
  const { endpoint, stop } = await startDynamoDbLocal();
  try {
    const tests = paths.length > 0 ? paths : ['packages/table/test/contract.test.ts'];
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const child = spawn(process.execPath, [vitest, 'run', ...tests], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, DYNAMODB_ENDPOINT: endpoint },
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  } finally {
    stop();
  }
}
