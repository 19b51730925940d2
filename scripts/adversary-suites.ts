// Runs services on a store and on streams that misbehave, with one seed after the other, until the time is over.
//   npm run adversary:suites -- --minutes 30 [--seed 1]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
  'services/tasks/test/order-model.test.ts',
  'services/tasks/test/processes.test.ts',
  'services/inbox/test/oracle.test.ts',
  'services/inbox/test/adversary.test.ts',
  'services/lake/test/adversary.test.ts',
  'services/webhooks/test/adversary.test.ts',
  'services/webhooks/test/insight.test.ts',
  'services/agents/test/adversary.test.ts',
  'services/agents/test/quota.test.ts',
];
const names = 'seed|a store that fails|a store with transient failures|when responses are lost';

type Assertion = { status: string; fullName: string; failureMessages?: string[] };
type Report = { testResults: { name: string; assertionResults: Assertion[] }[] };

const readReport = (): Report['testResults'] =>
  (JSON.parse(readFileSync(reportFile, 'utf8')) as Report).testResults;

// If the tests of a suite were renamed, all of it would be left out, and nobody would notice.
function suitesWithoutTests(): string[] {
  const hasRun = ({ assertionResults }: Report['testResults'][number]) =>
    assertionResults.some(({ status }) => status === 'passed' || status === 'failed');
  const ran = readReport()
    .filter(hasRun)
    .map(({ name }) => name);
  return suites.filter(suite => !ran.some(name => name.endsWith(suite)));
}

// Reads the failures by suite and test, each with the first line of its reason. Times and random ids are left out.
function readFailures(): Map<string, string> {
  const failures = new Map<string, string>();
  for (const { name, assertionResults } of readReport())
    for (const { status, fullName, failureMessages = [] } of assertionResults) {
      if (status !== 'failed') continue;
      const [why = ''] = (failureMessages[0] ?? '').split('\n');
      failures.set(`${suites.find(suite => name.endsWith(suite))}: ${fullName}`, why);
    }
  return failures;
}

type Run = { code: number | null; output: string; seconds: number };

async function runSuites(some: readonly string[], seed: number): Promise<Run> {
  const startedAt = Date.now();
  rmSync(reportFile, { force: true });
  // It is to run beside other work, for long: only a test that never ends is a fault.
  const patience = ['--test-timeout', '300000'];
  const reporters = ['--reporter', 'dot', '--reporter', 'json', '--outputFile.json', reportFile];
  const child = spawn('npx', ['vitest', 'run', ...some, '-t', names, ...reporters, ...patience], {
    cwd: root,
    env: { ...process.env, STAK_ADVERSARY_SEED: String(seed) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  child.stdout.on('data', text => lines.push(String(text)));
  child.stderr.on('data', text => lines.push(String(text)));
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, output: lines.join(''), seconds: Math.round((Date.now() - startedAt) / 1000) };
}

// A history that follows from its seed alone fails again, at the same step. One that does not says something about real
// sockets, processes or time, which are in no seed: webhooks, the lake and the AWS SDK have some.
async function sayWhetherItFailsAgain(seed: number): Promise<void> {
  const failures = readFailures();
  if (failures.size === 0) return;
  const failed = suites.filter(suite => [...failures.keys()].some(key => key.startsWith(`${suite}:`)));
  await runSuites(failed, seed);
  const again = readFailures();
  for (const [test, why] of failures) {
    const other = again.get(test);
    if (other === why) console.error(`Fails again in the same way: ${test}`);
    else if (other !== undefined) console.error(`Fails again in another way: ${test}: ${other}`);
    else console.error(`Does not fail again: ${test}`);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'stak-adversary-'));
const reportFile = join(folder, 'report.json');
try {
  if (!(minutes > 0) || !Number.isInteger(firstSeed) || firstSeed < 1) {
    console.error('Usage: npm run adversary:suites -- [--minutes 30] [--seed 1]');
    process.exitCode = 2;
  } else await runSeeds();
} finally {
  rmSync(folder, { recursive: true });
}

async function runSeeds(): Promise<void> {
  const endsAt = Date.now() + minutes * 60_000;
  for (let seed = firstSeed; Date.now() < endsAt; seed++) {
    const { code, output, seconds } = await runSuites(suites, seed);
    const missing = code === 0 ? suitesWithoutTests() : [];
    const hasHeld = code === 0 && missing.length === 0;
    console.log(`seed ${seed}: ${hasHeld ? 'held' : 'FAILED'}, ${seconds} s`);
    if (hasHeld) continue;
    process.exitCode = 1;
    if (missing.length > 0) console.error(`no test of ${missing.join(', ')} matches its name`);
    else console.error(output.slice(-6000));
    if (existsSync(reportFile)) await sayWhetherItFailsAgain(seed);
    console.error(`Again: npm run adversary:suites -- --seed ${seed} --minutes 0.01`);
    console.error(`One suite: STAK_ADVERSARY_SEED=${seed} npx vitest run SUITE -t '${names}'`);
    return;
  }
}
