import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Page, runGuide } from './guide.ts';

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
    [
      join(root, 'apps/server/bin/stak.mjs'),
      'start',
      '--port',
      '0',
      '--path',
      join(folder, 'data'),
      '--no-demo',
    ],
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  );

const page = (path: string, section?: string) => ({ file: join(root, path), ...(section && { section }) });
const run = (...pages: Page[]) => runGuide({ pages, url, home: folder, folder: root });

it('the first five minutes of the README, then the guides that go on from there', async () => {
  const start = page('README.md', 'The first five minutes');
  const guides = ['inbox', 'tasks', 'agents'].map(name => page(`docs/guides/${name}.md`));
  const output = await run(start, ...guides);
  expect(output).toContain('"user_id":"ann"');
  expect(output).toContain('"unread":2');
  expect(output).toContain('"title":"Buy milk"');
  expect(output).toContain('rule thanks · no model');
  expect(output).toContain('I will remember: I like tea');
  const docs = await fetch(`${url}/docs`);
  expect(await docs.text()).toContain('/v1/tenants/{tenant_id}/tokens');
}, 120_000);
