// Runs a checkout of the Parity suite (nubo-db/dynamodb-conformance) against the engine's HTTP server:
//   npm run conformance -- PATH [--endpoint URL] [--keep]
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

type Report = {
  testResults: {
    name: string;
    status: string;
    message?: string;
    assertionResults: { fullName: string; status: string; failureMessages?: string[] }[];
  }[];
};

const enough = 592;
const root = fileURLToPath(new URL('..', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { endpoint: { type: 'string' }, keep: { type: 'boolean', default: false } },
});
const [path] = positionals;
if (!path || !existsSync(join(path, 'package.json'))) {
  console.error('usage: npm run conformance -- PATH-OF-THE-SUITE [--endpoint URL] [--keep]');
  process.exit(2);
}

const suite = await install(resolve(path));
const server = values.endpoint ? undefined : await startServer();
let report: Report;
try {
  report = await runSuite(suite, values.endpoint ?? server!.url);
} finally {
  server?.child.kill('SIGTERM');
  if (!values.keep) await rm(suite, { recursive: true, force: true });
}
process.exitCode = summarise(report, await readExplained());

// The checkout itself stays as it is. With --keep its installed copy is found again by the next run.
async function install(checkout: string): Promise<string> {
  const tag = createHash('sha256').update(checkout).digest('hex').slice(0, 8);
  const kept = join(tmpdir(), `stak-conformance-${tag}`);
  if (values.keep && existsSync(kept)) return kept;
  const folder = await mkdtemp(`${kept}-`);
  console.log('Installing the suite…');
  // Its lockfile pins packages that a registry mirror may not hold.
  const skipped = new Set(['node_modules', '.git', 'package-lock.json'].map(name => join(checkout, name)));
  await cp(checkout, folder, { recursive: true, filter: source => !skipped.has(source) });
  const code = await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], folder, {});
  if (code !== 0) throw new Error(`npm install of the suite ended with code ${code}`);
  if (!values.keep) return folder;
  await rename(folder, kept);
  return kept;
}

async function startServer(): Promise<{ child: ChildProcess; url: string }> {
  const main = join(root, 'apps/server/src/main.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', main, 'dynamodb', '--memory', '--port', '0'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout! })) {
    const url = /http:\/\/[^\s)]+/.exec(line)?.[0];
    if (url) return { child, url };
  }
  throw new Error('the HTTP server did not start');
}

async function runSuite(folder: string, endpoint: string): Promise<Report> {
  const output = join(folder, 'report.json');
  await rm(output, { force: true });
  console.log(`Running the suite against ${endpoint}…`);
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
  const code = await run(
    process.execPath,
    [vitest, 'run', '--reporter=json', `--outputFile=${output}`],
    folder,
    {
      DYNAMODB_ENDPOINT: endpoint,
      NODE_NO_WARNINGS: '1',
    },
  );
  if (!existsSync(output)) throw new Error(`the suite ended with code ${code} and without a report`);
  return JSON.parse(await readFile(output, 'utf8')) as Report;
}

async function run(
  command: string,
  args: string[],
  cwd: string,
  env: Record<string, string>,
): Promise<number> {
  const child = spawn(command, args, { cwd, stdio: 'inherit', env: { ...process.env, ...env } });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

// The first column of the page's table: full test names in backticks.
async function readExplained(): Promise<Set<string>> {
  const page = join(root, 'docs/reference/conformance.md');
  if (!existsSync(page)) return new Set();
  const text = await readFile(page, 'utf8');
  return new Set(Array.from(text.matchAll(/^\|\s*`([^`]+)`\s*\|/gm), match => match[1]!));
}

function summarise({ testResults }: Report, explained: Set<string>): number {
  const tests = testResults.flatMap(file => file.assertionResults);
  const passed = tests.filter(test => test.status === 'passed').length;
  const failures = tests.filter(test => test.status !== 'passed');
  let unexplained = 0;
  for (const { fullName, status, failureMessages } of failures) {
    const known = explained.has(fullName);
    if (!known) unexplained += 1;
    console.log(`${status}${known ? ' (explained)' : ''}: ${fullName}`);
    if (!known) console.log(`  ${(failureMessages?.[0] ?? '').split('\n', 1)[0]}`);
  }
  for (const file of testResults) {
    if (file.assertionResults.length > 0) continue;
    unexplained += 1;
    console.log(`failed to load: ${file.name}\n  ${file.message ?? ''}`);
  }
  for (const name of explained)
    if (tests.some(test => test.fullName === name && test.status === 'passed'))
      console.log(`passes although docs/reference/conformance.md explains it: ${name}`);
  console.log(`${passed} passed, ${failures.length} failed`);
  return unexplained === 0 && passed >= enough ? 0 : 1;
}
