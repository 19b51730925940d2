import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine } from '@stak/engine';
import { seededRandom } from '@stak/kit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bin, killAll, type Run, stak, start } from './command.ts';

const pageBytes = 4096; // of the store’s file

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-test-'));
});

afterEach(killAll);

afterAll(() => rm(folder, { recursive: true, force: true }));

async function serve(...args: string[]): Promise<Run & { url: string }> {
  const run = start('dynamodb', '--port', '0', ...args);
  while (!run.stdout.includes('\n')) {
    await Promise.race([once(run.child.stdout!, 'data'), run.code]);
    if (run.child.exitCode !== null) throw new Error(run.stderr);
  }
  return Object.assign(run, { url: /http:\/\/[^\s)]+/.exec(run.stdout)![0] });
}

async function call(url: string, operation: string, body: object): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      authorization: 'AWS4-HMAC-SHA256 any',
    },
    body: JSON.stringify(body),
  });
  return response.json();
}

const table = {
  TableName: 'notes',
  AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  BillingMode: 'PAY_PER_REQUEST',
};
const item = { pk: { S: 'a' } };

// Ends as the command in front of the pipe has ended.
async function pipe(command: string, reader: string): Promise<{ code: number; stderr: string }> {
  const script = `"$0" "$1" ${command} | ${reader}; exit "\${PIPESTATUS[0]}"`;
  const child = spawn('bash', ['-c', script, process.execPath, bin], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stdout.resume();
  child.stderr.on('data', chunk => {
    stderr += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, stderr };
}

describe('in a pipe', () => {
  test.each([
    ['tables doc', 'head -1'],
    ['--help', 'true'],
    ['nothing-of-that-name 2>&1', 'true'],
    ['start --no-demo --port 0 --path "$STAK_TEST_DATA"', 'true'],
    ['dynamodb --port 0 --memory', 'true'],
  ])(
    'stak %s | %s ends quietly, as SIGPIPE ends others',
    async (command, reader) => {
      const data = join(folder, 'piped');
      expect(await pipe(command.replace('$STAK_TEST_DATA', data), reader)).toEqual({ code: 141, stderr: '' });
    },
    60_000,
  );

  test('output that is lost for another reason is a failure', async () => {
    if (process.platform !== 'linux') return;
    const { code, stderr } = await pipe('tables doc > /dev/full', 'true');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'stak: the output cannot be written: the disk is full\n',
    });
  }, 60_000);
});

test('--help and --version', async () => {
  const [help, version, half] = await Promise.all([stak('--help'), stak('--version'), stak('keys')]);
  expect(help).toMatchObject({ code: 0, stderr: '' });
  const names = [...help.stdout.matchAll(/^ {2}([a-z]+) {2,}[A-Z]/gm)].map(([, name]) => name!);
  expect(names.join(' ')).toBe(
    'start demo login logout whoami me keys audit tenants tokens inbox hooks tasks chat agents models mcp lake why accounts tables streams storage secrets dynamodb backup restore export import migrate aws completion simulate',
  );
  expect(half, 'half a command is answered with the other half').toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/Actions:\n {2}list {4}All of them/),
  });
  expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/\d+\.\d+\.\d+/) });
});

describe('reports mistakes in one line', () => {
  let busy: ReturnType<typeof createServer>;
  let port: string;
  let file: string;

  beforeAll(async () => {
    busy = createServer().listen(0, '127.0.0.1');
    await once(busy, 'listening');
    port = String((busy.address() as { port: number }).port);
    file = join(folder, 'file');
    await writeFile(file, '');
  });

  afterAll(() => void busy.close());

  test.each<[string, () => string[], RegExp]>([
    ['an unknown command', () => ['nonsense'], /there is no command "nonsense"; see stak --help/],
    ['a slip of the pen', () => ['taks', 'list'], /did you mean stak tasks\?/],
    [
      'an unknown action',
      () => ['dynamodb', 'nonsense'],
      /knows serve, check, stats, backup, not .*see stak dynamodb --help/,
    ],
    [
      'an unknown flag',
      () => ['dynamodb', '--nonsense'],
      /Unknown option `--nonsense`; see stak dynamodb --help/,
    ],
    ['a port that is none', () => ['dynamodb', '--port', 'http'], /--port needs a number/],
    ['a port in use', () => ['dynamodb', '--memory', '--port', port], /port \d+ is already in use/],
    ['both places', () => ['dynamodb', '--memory', '--path', folder], /either --path or --memory/],
    ['a file for a folder', () => ['dynamodb', '--path', file, '--port', '0'], /file is not a folder/],
    [
      'a folder in a file',
      () => ['dynamodb', '--path', join(file, 'x'), '--port', '0'],
      /cannot create the folder .*file.x: ENOTDIR/,
    ],
    [
      'a folder nobody can make',
      () => ['dynamodb', '--path', '/proc/stak'],
      /cannot create the folder .proc.stak/,
    ],
    [
      'a check of nothing',
      () => ['dynamodb', 'check', '--path', join(folder, 'none')],
      /there is no store in .*none/,
    ],
    [
      'a backup to nowhere',
      () => ['dynamodb', 'backup', '--path', folder],
      /--to needs one value; see stak dynamodb --help/,
    ],
  ])('%s', async (_, args, message) => {
    const { code, stdout, stderr } = await stak(...args());
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stdout).toBe('');
    expect(code).toBe(1);
  });
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s stops it cleanly', async signal => {
  const run = await serve('--memory');
  expect(run.stdout).toContain(`--endpoint-url ${run.url}`);
  expect(await call(run.url, 'ListTables', {})).toEqual({ TableNames: [] });
  run.child.kill(signal);
  expect(await run.code).toBe(0);
  expect(run.stderr).toBe('');
});

test('written data is there after a restart, in the folder and in its backup', async () => {
  const path = join(folder, 'data');
  const copy = join(folder, 'copy');
  const first = await serve('--path', path);
  await call(first.url, 'CreateTable', table);
  await call(first.url, 'PutItem', { TableName: 'notes', Item: item });
  first.child.kill('SIGKILL');
  await first.code;

  const second = await serve('--path', path);
  expect(await call(second.url, 'GetItem', { TableName: 'notes', Key: item })).toEqual({ Item: item });
  const backedUp = await stak('dynamodb', 'backup', '--path', path, '--to', copy);
  expect(backedUp).toMatchObject({ code: 0, stderr: '' });
  second.child.kill('SIGTERM');
  await second.code;

  const checked = await stak('dynamodb', 'check', '--path', copy);
  expect(checked).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(checked.stdout)).toMatchObject({ tables: 1, items: 1, problems: [] });
  const counted = await stak('dynamodb', 'stats', '--path', copy);
  expect(counted).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(counted.stdout)).toBeTypeOf('object');
});

test('a file that is not a store is refused and left alone', async () => {
  const path = join(folder, 'garbage');
  await mkdir(path);
  await writeFile(join(path, 'stak.mdb'), 'not a database'.repeat(1000));
  const { code, stderr } = await stak('dynamodb', '--port', '0', '--path', path);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^stak: .+\n$/);
  expect(await readFile(join(path, 'stak.mdb'), 'utf8')).toBe('not a database'.repeat(1000));
});

test.each([1, 2, 3])(
  'a file with flipped bits in each of its pages is named, by a check and by a server; seed %i',
  async seed => {
    const path = await mkdtemp(join(folder, 'flipped-'));
    const file = join(path, 'stak.mdb');
    const engine = await createEngine({ path });
    await engine.execute('CreateTable', table);
    for (let n = 0; n < 100; n++)
      await engine.client.put({ TableName: 'notes', Item: { pk: `${n}`, text: 'x'.repeat(n) } });
    await engine.close();
    const bytes = await readFile(file);
    const random = seededRandom(seed);
    // Every page after the two that name the newest state: most of the others are free, and free pages are not read.
    for (let page = 2 * pageBytes; page < bytes.length; page += pageBytes)
      for (let n = 0; n < 64; n++)
        bytes[page + Math.floor(random() * pageBytes)]! ^= 1 << Math.floor(random() * 8);
    await writeFile(file, bytes);
    const checked = await stak('dynamodb', 'check', '--path', path);
    expect(checked.code).toBe(1); // null after a signal
    expect(checked.stderr + checked.stdout).toMatch(/damaged|"problemCount": [1-9]/);
    const server = start('dynamodb', '--port', '0', '--path', path);
    await Promise.race([once(server.child.stdout!, 'data'), server.code]);
    server.child.kill('SIGTERM');
    await server.code;
    expect(['SIGSEGV', 'SIGBUS', 'SIGABRT']).not.toContain(server.child.signalCode);
  },
);
