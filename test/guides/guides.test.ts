import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runGuide } from './guide.ts';

// The pages that show the API with curl, word for word against the server that `npm start` runs.

const root = join(import.meta.dirname, '../..');
let folder: string;
let server: ReturnType<typeof startServer>;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-guides-'));
  server = startServer();
  for await (const line of createInterface(server.stdout)) {
    const found = /Stak is at (\S+)/.exec(line);
    if (found) {
      url = found[1]!;
      break;
    }
  }
}, 60_000);

afterAll(async () => {
  const closed = once(server, 'close');
  server.kill('SIGTERM');
  await closed;
  await rm(folder, { recursive: true });
});

const startServer = () =>
  spawn(
    process.execPath,
    [join(root, 'apps/server/bin/stak.mjs'), 'start', '--port', '0', '--path', join(folder, 'data')],
    {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, STAK_WORKERS: '1' },
    },
  );

const guide = (name: string) => ({ file: join(root, `docs/guides/${name}.md`) });
const run = (...names: string[]) => runGuide({ pages: names.map(guide), url, home: folder, folder: root });

it('the quickstart, then the guides that go on from there', async () => {
  const output = await run('quickstart', 'inbox', 'tasks', 'agents', 'lake');
  for (const shown of [
    // the quickstart
    'questions to the agent.',
    '"display_name":"Ann"',
    /evt_\w+ +\S+ +\w+ +POST +27 +application\/json/,
    '"total":2,"unread":2,"unseen":2',
    /tsk_\w+ +2030-12-01 +high +pending +Pack order 7/,
    'rule greeting · no model',
    /^title +priority +due_date$/m,
    // the guides
    '"title":"Buy milk"',
    'rule thanks · no model',
    'I will remember: I like tea',
    '"columns":[{"name":"status","type":"VARCHAR"},{"name":"tasks","type":"BIGINT"}]',
    '"name":"tasks-completed"',
    '"caught_up":',
  ])
    expect(output).toMatch(shown);
  const docs = await fetch(`${url}/docs`);
  expect(await docs.text()).toContain('/v1/tenants/{tenant_id}/tokens');
}, 240_000);
