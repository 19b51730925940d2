import { fileURLToPath } from 'node:url';
import { createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { readServerConfig, startServer } from '@stak/server';
import { build } from 'vite';
import { afterAll, expect, it } from 'vitest';
import { openBrowser } from './browser.ts';

// `useChat` of the AI SDK, unchanged, in a browser: a tool that needs an approval, a reload in between, the answer.

const browser = await openBrowser();
const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of [async () => browser?.close(), ...closers]) await close();
});

async function bundlePage(): Promise<string> {
  const bundled = await build({
    configFile: false,
    logLevel: 'silent',
    define: { 'process.env.NODE_ENV': '"production"' },
    oxc: { jsx: { runtime: 'automatic', development: false } },
    build: {
      write: false,
      minify: false,
      rollupOptions: { input: fileURLToPath(new URL('use-chat-page.tsx', import.meta.url)) },
    },
  });
  const { output } = [bundled].flat()[0] as { output: readonly { type: string; code?: string }[] };
  return output.find(({ type }) => type === 'chunk')!.code!;
}

async function openChat() {
  const server = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, {}), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  closers.push(() => server.stop());
  const baseUrl = server.localUrl;
  const person = { email: 'ann@example.com', password: 'a long enough password', name: 'Ann', cookie: false };
  const { data } = await createClient({ baseUrl }).accounts.signUp({ body: person });
  const host = createClient({ baseUrl, token: data.access_token });
  const tenant_id = 'shop';
  await host.tenants.create({ body: { tenant_id, name: 'Shop', status: 'active' } });
  const body = { enabled_skills: ['create_task'] };
  await host.tenants.updateSettings({ tenant_id, body }, { ifMatch: '*' });
  const scope = 'agents:chat tasks:read tasks:write';
  const { token } = (await host.tenants.mintToken({ tenant_id, body: { sub: 'bob', scope } })).data;
  const user = createClient({ baseUrl, token });
  const { conversation_id } = (await user.agents.createConversation({ tenant_id, body: {} })).data;
  const api = `/v1/tenants/${tenant_id}/conversations/${conversation_id}/ui`;
  return { url: `${baseUrl}/chat`, user, chat: { api, token } };
}

it.skipIf(!browser)(
  browser ? 'a chat asks for an approval and continues' : 'a chat asks for an approval (needs a browser)',
  async () => {
    const [{ url, user, chat }, script] = await Promise.all([openChat(), bundlePage()]);
    const page = await browser!.newPage();
    await page.route(url, route =>
      route.fulfill({
        contentType: 'text/html',
        body: `<!doctype html><body></body><script>window.chat = ${JSON.stringify(chat)}</script><script type="module">${script.replaceAll('</script', '<\\/script')}</script>`,
      }),
    );
    const item = (text: string) => page.getByRole('listitem').filter({ hasText: text });
    const asked = 'create_task {"title":"buy milk"} approval-requested';
    await page.goto(url);
    await page.getByText('ready').waitFor();
    await page.getByRole('button', { name: 'Ask' }).click();
    await item(asked).waitFor();
    expect((await user.tasks.list({})).data.data).toEqual([]);

    await page.reload(); // the page forgets, the conversation does not
    await item(asked).waitFor();
    await page.getByText('ready').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await item('create_task {"title":"buy milk"} output-available').waitFor();
    await item('assistant said Created the task "buy milk"').waitFor();
    await page.getByText('ready').waitFor();
    expect((await user.tasks.list({})).data.data).toMatchObject([{ title: 'buy milk' }]);
    await expect.poll(() => page.getByRole('listitem').count()).toBe(2);
  },
  60_000,
);
