import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { builtCommand } from '../build-programs.ts';
import { type Page, type Reader, runGuide } from './guide.ts';
import { startModelServer } from './model-server.ts';

// The pages that show the API with curl, word for word against the server that `npm start` runs: one after the other,
// on one server, with one account.

const root = join(import.meta.dirname, '../..');
const stak = builtCommand;
const execute = promisify(execFile);
let folder: string;
let server: ReturnType<typeof run>;
let url: string;
let link: string; // to the demo
let model: Awaited<ReturnType<typeof startModelServer>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-guides-'));
  model = await startModelServer('llama3.2', 'Marie and Pierre Curie discovered it.');
  server = run(folder, ['start'], {
    STAK_PORT: '0',
    STAK_BACKUP: './shipped',
    STAK_OPENAI_URL: model.url,
    STAK_MODEL: 'openai-compatible/llama3.2',
  });
  for await (const line of createInterface(server.stdout)) {
    url ??= /Stak is at (\S+)/.exec(line)?.[1] as string;
    link = /^Open the demo workspace, once: (\S+)$/.exec(line)?.[1] ?? link;
    if (link) break;
  }
}, 120_000);

afterAll(async () => {
  await stop(server);
  await model.close();
  await rm(folder, { recursive: true });
});

const run = (cwd: string, args: string[], env: Record<string, string> = {}) =>
  spawn(process.execPath, [stak, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });

async function stop(child: ReturnType<typeof run>): Promise<void> {
  if (child.exitCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  child.stdout.resume();
  await closed;
}

async function urlOf(child: ReturnType<typeof run>): Promise<string> {
  for await (const line of createInterface(child.stdout)) {
    const [url] = / at (http:\S+)/.exec(line)?.slice(1) ?? [];
    if (url) return url;
  }
  throw new Error('it ended before it listened');
}

const guides = join(root, 'docs/guides');
const page = (name: string, section?: string): Page => ({
  file: join(guides, `${name}.md`),
  ...(section !== undefined && { section }),
});
// Each with what it has to show.
const sequence: readonly (readonly [Page, ...(string | RegExp)[]])[] = [
  [
    page('quickstart'),
    'questions to the agent.',
    '"display_name":"Ann"',
    /evt_\w+ +\S+ +\w+ +POST +27 +application\/json/,
    '"total":2,"unread":2,"unseen":2',
    /tsk_\w+ +2030-12-01 +high +pending +Pack order 7/,
    'rule greeting · no model',
    /^title +priority +due_date$/m,
    'Backed up to ./backup, with the secret-key',
  ],
  [
    page('webhooks'),
    '"matched":false', // the sample
    '"duplicate":true',
    '"status":"delivered"',
    '{"id":7,"status":"paid"}', // the body, as it came
    '"action":"replay"',
    /^event: event$/m, // the live view
    /^401$/m,
    /^404$/m, // nobody outside sends for Stak
    '"auditTrail":true',
  ],
  [
    page('what-if'),
    '"events":3,"before":{"sent":1,"filtered":2,"dropped":0,"failed":0}',
    /evt_\w+ +\S+ +filtered +sent$/m,
    'done: 1 events, 1 deliveries are due',
  ],
  [
    page('why'),
    /└ delivery: to Nowhere/,
    /└ attempt: request to .* answered 404/,
    /└ message: Webhooks: delivery failed/,
    '"because_of":"delivery:evt_',
    /└ task: Pack the order, why/,
    /order\.paid +Pack the order, why/,
  ],
  [page('retries'), '"delaysS":[10,40]', '"action":"replay"', '"action":"cancel"'],
  [page('idempotency'), /^idempotency-replayed: true/im, 'http.idempotency_mismatch'],
  [page('inbox'), '"title":"Your invoice"', /^event: counts$/m],
  [page('tasks'), '"title":"Buy milk"', '"title":"Buy bread"'],
  [page('pagination'), /^Pack order 7$/m, /^Buy bread$/m],
  [
    page('agents'),
    /^openai-compatible\/llama3.2 +no price +default$/m,
    'openai-compatible/llama3.2 · 30 + 8 tokens',
    '"reply":{"role":"assistant","content":"Marie and Pierre Curie discovered it."}',
    '"routing":"model"',
    'rule thanks · no model',
    'I will remember: I like tea',
    /"approvals":\[\{"approval_id":"apr_/,
    'Created the task \\"buy tea\\"',
    /^422$/m, // a provider that is not there
    '"structuredContent":',
  ],
  [
    page('openai'),
    '"id":"openai-compatible/llama3.2","object":"model"',
    '"message":{"role":"assistant","content":"Marie and Pierre Curie discovered it."',
    '"object":"response"',
  ],
  [
    page('a2a'),
    '"protocolBinding":"JSONRPC"',
    /"state":"TASK_STATE_COMPLETED".*"text":"Marie and Pierre Curie discovered it\."/,
    '"totalSize":1',
  ],
  [
    page('lake'),
    '"columns":[{"name":"status","type":"VARCHAR"},{"name":"tasks","type":"BIGINT"}]',
    '"name":"tasks-completed"',
    '"caught_up":',
  ],
  [
    page('lake-with-duckdb-spark-athena'),
    '{"namespace":["silver"],"name":"tasks"}',
    '"metadata-location":',
    /v\d+\.metadata\.json$/m,
  ],
  [page('consume-a-stream', 'Records that fail'), 'webhooks-alerts'],
  [page('storage'), '"plan":"selfhosted"', '"limitBytes":null'],
  [
    page('accounts'),
    '"emailVerified":true',
    /^202\n201$/m, // signed up by mail
    /202\n202$/m,
    /^401$/m, // the session that was ended
    '"pointer":"#/password"',
    '{"status":"waiting"}',
    '{"status":"changed"}',
    '"email":"dana@new.example"',
    '"tenants":["acme"]',
    /usr_\w+ +dana@new\.example +selfhosted +verified/,
    '"role":"member","isCurrent":false', // Finn, before the switch
    'http.scope_missing',
    'accounts.disabled',
    'dana@new.example is let in again',
  ],
  [
    page('portal'),
    '"user_id":"ines"',
    '"portal_frame_ancestors":["https://app.example.com"]',
    '"name":"Bookshop","sign_in":true',
    /^202$/m,
    /"role":"admin".*tenant:manage/,
    /^Bearer\n.*Bearer$/ms, // refreshed, and joined
    '"redirect_uri":',
    'tenants.admin_refused',
    '"color":"#0f766e"',
  ],
  [page('self-hosting-plans'), '"eventsPerMonth":null', 'has the plan pro', '"plan": "pro"'],
  [page('backup-and-restore', 'Look at it'), /^newest snapshot +20/m, /^shipped until +20/m, /^gaps +none$/m],
  [page('backup-and-restore', 'Restore'), /^Restored to \.\/restored, as it was at 20/m, 'no problems found'],
  [page('run-dynamodb-locally', 'Look after the data'), '"problemCount": 0', 'Backed up to ./copy'],
];

it('the quickstart, then every guide that builds on it, each in a separate terminal', async () => {
  const reader: Reader = { folder, stak, env: { XDG_CONFIG_HOME: folder, STAK_URL: url } };
  for (const [one, ...shown] of sequence) {
    const { output, exported } = await runGuide(one, reader);
    for (const text of shown) expect(output, one.file).toMatch(text);
    // A reader takes these along to the next terminal.
    const { KEY, STAK_TOKEN } = exported;
    Object.assign(reader.env, { KEY, STAK_TOKEN });
  }
  const docs = await (await fetch(`${url}/docs/api`)).text();
  const script = await fetch(new URL(/<script src="([^"]+)"/.exec(docs)![1]!, url));
  expect(script.status).toBe(200);
  const api = await (await fetch(`${url}/openapi.json`)).text();
  expect(api).toContain('/v1/tenants/{tenant_id}/tokens');
}, 400_000);

const person = { email: 'ann@example.com', password: 'a long enough password', cookie: false };
const post = (url: string, path: string, body: object) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

// A server on a disk where Ann has signed up, and DynamoDB as `stak dynamodb` has it. The AWS SDK finds that by its own
// variables, so pages are run as they are.
async function startMove() {
  const home = await mkdtemp(join(tmpdir(), 'stak-move-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const begin = (args: string[], env: Record<string, string> = {}) => {
    const child = run(home, args, { STAK_PORT: '0', STAK_LAKE: 'off', STAK_WORKERS: '1', ...env });
    onTestFinished(() => stop(child));
    return child;
  };
  const AWS_ENDPOINT_URL = await urlOf(begin(['dynamodb', '--memory', '--port', '0']));
  const aws = { AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' };
  const start = async (env: Record<string, string> = {}) => {
    const child = begin(['start', '--no-demo'], { ...aws, ...env });
    return { child, url: await urlOf(child) };
  };
  const { child, url } = await start();
  expect((await post(url, '/v1/auth/signup', { ...person, name: 'Ann' })).status).toBe(201);
  const STAK_DATA = join(home, 'data');
  const env = { ...aws, STAK_DATA, SERVER_PID: String(child.pid) };
  return { reader: { folder: home, stak, env }, url, start };
}

it('a workspace moves to DynamoDB while its server runs', async () => {
  const { reader, url } = await startMove();
  const { output } = await runGuide(page('move-to-aws', 'From one machine to AWS, while it runs'), reader);
  expect(output).toContain('The server continues there.');
  await expect.poll(async () => (await post(url, '/v1/auth/login', person)).status).toBe(200);
}, 200_000);

it('a workspace moves to DynamoDB with its server stopped', async () => {
  const { reader, start } = await startMove();
  await expect.poll(() => recordsBehind(reader.env.STAK_DATA), { timeout: 60_000 }).toBe(0);
  const { output, exported } = await runGuide(page('move-to-aws', 'With the server stopped'), reader);
  expect(output).toMatch(/exported.*imported, and read again/s);
  const STAK_SECRET_KEYS = exported.STAK_SECRET_KEYS!;
  const { url } = await start({ STAK_STORE: 'aws', STAK_AWS_REGION: 'eu-central-1', STAK_SECRET_KEYS });
  expect((await post(url, '/v1/auth/login', person)).status).toBe(200);
}, 200_000);

async function recordsBehind(path: string): Promise<number> {
  const { stdout } = await execute(process.execPath, [stak, 'streams', 'status', '--path', path, '--json']);
  const consumers = JSON.parse(stdout) as { shards: { behind?: { records: number } }[] }[];
  return consumers.flatMap(({ shards }) => shards).reduce((sum, one) => sum + (one.behind?.records ?? 0), 0);
}

it('the printed link opens the demo workspace', async () => {
  const [page, token] = link.split('#demo=');
  expect(page).toBe(`${url.replace('127.0.0.1', 'localhost')}/console/sign-in`);
  const answer = await fetch(`${url}/console/demo/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  expect([answer.status, await answer.json()]).toMatchObject([200, { token_type: 'Bearer' }]);
});

it('every guide with shell commands is tested', async () => {
  const without = [
    'replace-dynamodb-local', // by the tests of packages
    'verify-a-signature', // by a test of its samples
    'billing',
    'change-stak',
    'sign-in-with-github-and-google',
    'define-a-table',
    'run-on-postgresql',
    'run-several-servers',
    'scale',
    'deploy-on-one-machine',
    'deploy-on-aws',
    'deploy-on-kubernetes',
    'operate',
    'upgrade',
  ];
  const names = (await readdir(guides)).map(name => name.replace(/\.md$/, ''));
  const ran = new Set(['move-to-aws', ...sequence.map(([{ file }]) => file.slice(guides.length + 1, -3))]);
  expect(names.filter(name => !ran.has(name)).toSorted()).toEqual(without.toSorted());
});
