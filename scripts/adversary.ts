// Runs services on a store and on streams that misbehave, with one seed after the other, until the time is over.
//   npm run adversary -- --minutes 30 [--seed 1]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const minutes = Number(values.minutes ?? 1);
const firstSeed = Number(values.seed ?? 1);
const root = fileURLToPath(new URL('..', import.meta.url));

// Each of them takes its seed from STAK_ADVERSARY_SEED.
const suites = [
  'packages/streams/test/adversary.test.ts',
  'packages/table/test/adversary.test.ts',
  'services/tasks/test/model.test.ts',
  'services/inbox/test/oracle.test.ts',
  'services/webhooks/test/adversary.test.ts',
  'services/webhooks/test/insight.test.ts',
  'services/agents/test/quota.test.ts',
];
const names = 'seed|a store that fails|a store whose answers|when answers get lost';

if (!(minutes > 0) || !Number.isInteger(firstSeed) || firstSeed < 1) {
  console.error('Usage: npm run adversary -- [--minutes 30] [--seed 1]');
  process.exitCode = 2;
} else {
  const endsAt = Date.now() + minutes * 60_000;
  let seed = firstSeed;
  for (; Date.now() < endsAt; seed++) {
    const startedAt = Date.now();
    // It is to run beside other work, for long: only a test that never ends is a fault.
    const patience = ['--test-timeout', '300000'];
    const child = spawn('npx', ['vitest', 'run', ...suites, '-t', names, '--reporter', 'dot', ...patience], {
      cwd: root,
      env: { ...process.env, STAK_ADVERSARY_SEED: String(seed) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines: string[] = [];
    child.stdout.on('data', text => lines.push(String(text)));
    child.stderr.on('data', text => lines.push(String(text)));
    const [code] = (await once(child, 'exit')) as [number | null];
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    console.log(`seed ${seed}: ${code === 0 ? 'held' : 'FAILED'}, ${seconds} s`);
    if (code === 0) continue;
    console.error(lines.join('').slice(-6000));
    process.exitCode = 1;
    break;
  }
}
