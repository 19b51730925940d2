import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { expect, test } from 'vitest';
import { readServerConfig } from '../src/config.ts';
import { prepareDemo } from '../src/demo.ts';
import { startServer } from '../src/server.ts';

test('the demo workspace has one of everything, also after a start that was cut short', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stak-demo-'));
  const server = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, {}), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  try {
    const { email, password } = await prepareDemo(server.url, folder);
    const file = join(folder, 'demo.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace('"isFilled": true', '"isFilled": false'));
    await prepareDemo(server.url, folder);

    const visitor = createClient({ baseUrl: server.url });
    const { data } = await visitor.accounts.logIn({ body: { email, password, cookie: false } });
    const { inbox, tasks, webhooks } = createClient({ baseUrl: server.url, token: data.access_token });
    const ann = { tenant_id: 'demo-shop', inbox_key: 'news', uid: 'ann' };
    expect((await inbox.counts(ann)).data).toMatchObject({ total: 3, unread: 3 });
    expect((await tasks.counts()).data).toMatchObject({ total: 3 });
    expect((await webhooks.listSources()).data.data).toMatchObject([{ name: 'demo' }]);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
}, 60_000);
