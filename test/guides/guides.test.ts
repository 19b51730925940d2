import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { builtCommand } from '../build-programs.ts';
import { type Page, type Reader, runGuide } from './guide.ts';
import { startModelServer } from './model-server.ts';

// The pages that show the API with curl, word for word against the server that `npm start` runs: one after the other,
// on one server, with one account.

const root = join(import.meta.dirname, '../..');
const stak = builtCommand;
let folder: string;
let server: ReturnType<typeof startServer>;
let url: string;
let link: string; // to the demo
let model: Awaited<ReturnType<typeof startModelServer>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-guides-'));
  model = await startModelServer('llama3.2', 'Marie and Pierre Curie discovered it.');
  server = startServer();
  for await (const line of createInterface(server.stdout)) {
    url ??= /Stak is at (\S+)/.exec(line)?.[1] as string;
    link = /^Open the demo workspace, once: (\S+)$/.exec(line)?.[1] ?? link;
    if (link) break;
  }
}, 120_000);

afterAll(async () => {
  const closed = once(server, 'close');
  server.kill('SIGTERM');
  await closed;
  await model.close();
  await rm(folder, { recursive: true });
});

const startServer = () =>
  spawn(process.execPath, [stak, 'start'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      STAK_PORT: '0',
      STAK_BACKUP: './shipped',
      STAK_OPENAI_URL: model.url,
      STAK_MODEL: 'openai-compatible/llama3.2',
    },
  });

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
  [page('inbox'), '"title":"Your invoice"', /^event: counts$/m],
  [page('tasks'), '"title":"Buy milk"', '"title":"Buy bread"'],
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
    /}422$/m, // a provider that is not there
    '"structuredContent":',
  ],
  [
    page('lake'),
    '"columns":[{"name":"status","type":"VARCHAR"},{"name":"tasks","type":"BIGINT"}]',
    '"name":"tasks-completed"',
    '"caught_up":',
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
  [page('backup-and-restore', 'Restore'), /^Restored to \.\/restored, as it was at 20/m, 'nothing is wrong'],
  [page('run-dynamodb-locally', 'Look after the data'), '"problemCount": 0', 'Backed up to ./copy'],
];

it('the quickstart, then every guide that goes on from there, in a terminal of its own', async () => {
  const reader: Reader = { folder, stak, env: { XDG_CONFIG_HOME: folder, STAK_URL: url } };
  for (const [one, ...shown] of sequence) {
    const { output, exported } = await runGuide(one, reader);
    for (const text of shown) expect(output, one.file).toMatch(text);
    // What a reader takes along to the next terminal.
    const { KEY, STAK_TOKEN } = exported;
    Object.assign(reader.env, { KEY, STAK_TOKEN });
  }
  const docs = await (await fetch(`${url}/docs/api`)).text();
  const script = await fetch(new URL(/<script src="([^"]+)"/.exec(docs)![1]!, url));
  expect(script.status).toBe(200);
  const api = await (await fetch(`${url}/openapi.json`)).text();
  expect(api).toContain('/v1/tenants/{tenant_id}/tokens');
}, 400_000);

it('the link that was printed opens the demo workspace', async () => {
  const [page, token] = link.split('#demo=');
  expect(page).toBe(`${url}/console/sign-in`);
  const answer = await fetch(`${url}/console/demo/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  expect([answer.status, await answer.json()]).toMatchObject([200, { token_type: 'Bearer' }]);
});

it('no guide with a shell is left out', async () => {
  const without = [
    'billing',
    'sign-in-with-github-and-google',
    'define-a-table',
    'run-on-postgresql',
    'run-several-servers',
    'deploy-on-one-machine',
    'deploy-on-aws',
    'deploy-on-kubernetes',
    'move-to-aws',
    'operate',
    'upgrade',
    'lake-with-duckdb-spark-athena',
  ];
  const names = (await readdir(guides)).map(name => name.replace(/\.md$/, ''));
  const ran = new Set(sequence.map(([{ file }]) => file.slice(guides.length + 1, -3)));
  expect(names.filter(name => !ran.has(name)).toSorted()).toEqual(without.toSorted());
});
