// Runs services on a store and on streams that misbehave, with one seed after the other, until the time is over.
//   npm run adversary -- --minutes 30 [--seed 1]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  'services/tasks/test/processes.test.ts',
  'services/inbox/test/oracle.test.ts',
  'services/webhooks/test/adversary.test.ts',
  'services/webhooks/test/insight.test.ts',
  'services/agents/test/adversary.test.ts',
  'services/agents/test/quota.test.ts',
];
const names = 'seed|a store that fails|a store with transient failures|when responses are lost';

type Report = { testResults: { name: string; assertionResults: { status: string }[] }[] };

// If the tests of a suite were renamed, all of it would be left out, and nobody would notice.
function suitesWithoutTests(reportFile: string): string[] {
  const { testResults } = JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
  const hasRun = ({ assertionResults }: Report['testResults'][number]) =>
    assertionResults.some(({ status }) => status === 'passed' || status === 'failed');
  const ran = testResults.filter(hasRun).map(({ name }) => name);
  return suites.filter(suite => !ran.some(name => name.endsWith(suite)));
}

if (!(minutes > 0) || !Number.isInteger(firstSeed) || firstSeed < 1) {
  console.error('Usage: npm run adversary -- [--minutes 30] [--seed 1]');
  process.exitCode = 2;
} else {
  const endsAt = Date.now() + minutes * 60_000;
  const folder = mkdtempSync(join(tmpdir(), 'stak-adversary-'));
  const reportFile = join(folder, 'report.json');
  try {
    let seed = firstSeed;
    for (; Date.now() < endsAt; seed++) {
      const startedAt = Date.now();
      // It is to run beside other work, for long: only a test that never ends is a fault.
      const patience = ['--test-timeout', '300000'];
      const reporters = ['--reporter', 'dot', '--reporter', 'json', '--outputFile.json', reportFile];
      const child = spawn('npx', ['vitest', 'run', ...suites, '-t', names, ...reporters, ...patience], {
        cwd: root,
        env: { ...process.env, STAK_ADVERSARY_SEED: String(seed) },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const lines: string[] = [];
      child.stdout.on('data', text => lines.push(String(text)));
      child.stderr.on('data', text => lines.push(String(text)));
      const [code] = (await once(child, 'exit')) as [number | null];
      const seconds = Math.round((Date.now() - startedAt) / 1000);
      const missing = code === 0 ? suitesWithoutTests(reportFile) : [];
      const hasHeld = code === 0 && missing.length === 0;
      console.log(`seed ${seed}: ${hasHeld ? 'held' : 'FAILED'}, ${seconds} s`);
      if (hasHeld) continue;
      if (missing.length > 0) console.error(`no test of ${missing.join(', ')} matches its name`);
      else console.error(lines.join('').slice(-6000));
      // With the same seed, the same things go wrong as long as the store answers in the same order.
      console.error(`Again: npm run adversary -- --seed ${seed} --minutes 0.01`);
      console.error(`One suite: STAK_ADVERSARY_SEED=${seed} npx vitest run SUITE -t '${names}'`);
      process.exitCode = 1;
      break;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
