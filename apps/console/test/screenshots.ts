// Takes screenshots of every page of the console, the portal and the documentation, at desktop and phone width, in
// light and dark. Needs a running server with the demo workspace (`npm start`) and changes little in it.
//
//   npm run screenshots -- --to ./screenshots [--url http://127.0.0.1:8787] [--data ./data] [--only events]

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Client, createClient } from '@stak/client';
import { openBrowser } from './browser.ts';

const { values: options } = parseArgs({
  options: {
    to: { type: 'string', default: './screenshots' },
    url: { type: 'string', default: 'http://127.0.0.1:8787' },
    data: { type: 'string', default: './data' },
    only: { type: 'string', default: '' },
  },
});
const { url } = options;
const only = new RegExp(options.only);
const screens = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];
const schemes = ['light', 'dark'] as const;
const tenant_id = 'demo-shop';
const invited = 'newcomer@example.com';

type Browser = NonNullable<Awaited<ReturnType<typeof openBrowser>>>;
type Context = Awaited<ReturnType<Browser['newContext']>>;
type Page = Awaited<ReturnType<Context['newPage']>>;
type Pages = Readonly<Record<string, string>>;

const accountPages = (): Pages =>
  Object.fromEntries(
    ['keys', 'members', 'billing', 'profile', 'security', 'sessions', 'audit'].map(tab => [
      `account-${tab}`,
      `/console/account?tab=${tab}`,
    ]),
  );

async function insidePages({ webhooks, agents, tasks }: Client): Promise<Pages> {
  const source = (await webhooks.listSources()).data.data[0]!.sourceId;
  const connection = (await webhooks.listConnections({ sourceId: source })).data.data[0]!.connectionId;
  const events = (await webhooks.listAllEvents({ limit: 50 })).data.data;
  const event = events.find(one => one.status === 'failed') ?? events[0]!;
  const [conversation] = (await agents.listConversations({ tenant_id })).data.data;
  const [task] = (await tasks.list({ limit: 5 })).data.data;
  const agent = `/console/agents/${tenant_id}`;
  const tenant = `/console/tenants/${tenant_id}`;
  return {
    overview: '/console/',
    inbox: '/console/inbox',
    'inbox-sent': '/console/inbox?tab=sent',
    'inbox-settings': '/console/inbox?tab=settings',
    sources: '/console/webhooks',
    connections: '/console/webhooks/connections',
    events: '/console/webhooks/events',
    'events-none': '/console/webhooks/events?type=nothing.of.this',
    'event-beside': `/console/webhooks/events?event=${event.eventId}`,
    analytics: '/console/webhooks/analytics',
    source: `/console/webhooks/${source}`,
    'source-connections': `/console/webhooks/${source}?tab=connections`,
    'source-analytics': `/console/webhooks/${source}?tab=analytics`,
    'source-settings': `/console/webhooks/${source}?tab=settings`,
    'new-source': '/console/webhooks?create=true',
    'new-connection': `/console/webhooks/${source}?tab=connections&connection=new`,
    connection: `/console/webhooks/${source}?tab=connections&connection=${connection}`,
    event: `/console/webhooks/${event.sourceId}/events/${event.eventId}`,
    'event-sent': `/console/webhooks/${event.sourceId}/events/${event.eventId}?view=sent`,
    'event-changes': `/console/webhooks/${event.sourceId}/events/${event.eventId}?view=changes`,
    board: '/console/tasks',
    list: '/console/tasks?view=list',
    calendar: '/console/tasks?view=calendar',
    trash: '/console/tasks?view=trash',
    task: `/console/tasks?task=${task!.task_id}`,
    agents: '/console/agents',
    chat: `${agent}?conversation=${conversation!.conversation_id}`,
    usage: `${agent}?tab=usage`,
    memory: `${agent}?tab=memory`,
    channels: `${agent}?tab=channels`,
    skills: `${agent}?tab=skills`,
    tenants: '/console/tenants',
    tenant,
    tokens: `${tenant}?tab=tokens`,
    'tenant-settings': `${tenant}?tab=settings`,
    'insights-tasks': '/console/data/insights',
    'insights-webhooks': '/console/data/insights?service=webhooks',
    'insights-inbox': '/console/data/insights?service=inbox',
    'insights-agents': '/console/data/insights?service=agents',
    sql: '/console/data/sql?sql=select%20status%2C%20count(*)%20from%20tasks%20group%20by%201',
    tables: '/console/tables',
    table: '/console/tables/todo-app-data',
    ...accountPages(),
    authorize: await appLink(),
    'verify-email': '/console/verify-email#token=made-up',
    'confirm-email': '/console/confirm-email#token=made-up',
    missing: '/console/nothing',
    'missing-source': '/console/webhooks/src_nothing',
    docs: '/docs/',
    'docs-guide': '/docs/guides/webhooks',
    'docs-missing': '/docs/nothing',
    api: '/docs/api',
  };
}

// The address to which an app sends people to ask for access.
async function appLink(): Promise<string> {
  const body = { client_name: 'Assistant', redirect_uris: ['http://127.0.0.1/callback'] };
  const answer = await fetch(`${url}/v1/oauth/register`, { method: 'POST', body: JSON.stringify(body) });
  const { client_id } = (await answer.json()) as { client_id: string };
  return `/v1/oauth/authorize?${new URLSearchParams({
    client_id,
    redirect_uri: 'http://127.0.0.1:9/callback',
    response_type: 'code',
    code_challenge: createHash('sha256').update('a verifier').digest('base64url'),
    code_challenge_method: 'S256',
    scope: 'read write',
    state: 'a state',
  })}`;
}

// The pages of visitors who are not signed in.
async function outsidePages({ accounts }: Client, invitation: string): Promise<Pages> {
  await accounts.invite({ body: { email: invited, role: 'member' } }).catch(() => {}); // it exists on the second run
  let mailed = await linkOf(invited);
  for (let tries = 0; mailed === undefined && tries < 50; tries++) {
    await setTimeout(200); // until a worker has written the e-mail
    mailed = await linkOf(invited);
  }
  return {
    'sign-in': '/console/sign-in',
    'sign-up': '/console/sign-in?isNew=true',
    'forgot-password': '/console/forgot-password',
    'reset-password': '/console/reset-password#token=made-up',
    'sign-up-mailed': '/console/sign-up-mailed',
    'finish-sign-up': '/console/finish-sign-up#token=made-up',
    join: mailed ?? '/console/join#token=made-up',
    'join-broken': '/console/join#token=made-up',
    invitation: `/console/invitation#${invitation}`,
    'portal-sign-in': `/portal/${tenant_id}`,
    'portal-missing': '/portal/nobody',
  };
}

// The newest link that was mailed to this address. A server without SMTP writes its e-mails to a folder.
async function linkOf(email: string): Promise<string | undefined> {
  const folder = join(options.data, 'mail');
  const names = await readdir(folder).catch(() => []);
  for (const name of names.toSorted().toReversed()) {
    const text = (await readFile(join(folder, name), 'utf8')).replaceAll('=\r\n', '').replaceAll('=3D', '=');
    const link = /^http\S+#token=\S+/m.exec(text);
    if (text.includes(`To: ${email}`) && link) return link[0].replace(/^https?:\/\/[^/]+/, '');
  }
  return undefined;
}

async function portalPages({ tenants }: Client): Promise<Pages> {
  const scope =
    'inbox:read inbox:write tasks:read tasks:write agents:chat profile:read profile:write tenant:manage';
  const { token } = (await tenants.mintToken({ tenant_id, body: { sub: 'ann', scope } })).data;
  const names = ['chat', 'inbox', 'tasks', 'memory', 'profile'];
  const admin = ['users', 'settings', 'channels', 'skills', 'usage'].map(name => `admin/${name}`);
  return Object.fromEntries(
    [...names, ...admin].map(name => [
      `portal-${name.replace('/', '-')}`,
      `/portal/${tenant_id}/${name}#token=${token}`,
    ]),
  );
}

// Waits until nothing is loading and the layout is final.
async function settle(page: Page): Promise<void> {
  await page.getByRole('heading').first().waitFor({ timeout: 60_000 });
  await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => {}); // streams stay open
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached', timeout: 15_000 });
}

// Charts are loaded last, and drawn when their size is known.
async function untilDrawn(page: Page): Promise<void> {
  const waiting = `document.querySelectorAll('.mantine-Skeleton-root').length +
    [...document.querySelectorAll('.recharts-responsive-container')]
      .filter(chart => !chart.querySelector('.recharts-surface path, .recharts-surface rect')).length`;
  for (let tries = 0; tries < 20; tries++) {
    await page.waitForTimeout(500);
    if (Number(await page.evaluate(waiting)) === 0) break;
  }
  await page.waitForTimeout(200); // for what was drawn last
}

async function take(context: Context, pages: Pages): Promise<void> {
  for (const [name, path] of Object.entries(pages)) {
    if (!only.test(name)) continue;
    for (const screen of screens)
      await takeOn(context, name, path, screen).catch(error =>
        console.log(`${name}: ${(error as Error).message.split('\n')[0]}`),
      );
  }
}

async function takeOn(
  context: Context,
  name: string,
  path: string,
  screen: (typeof screens)[number],
): Promise<void> {
  const page = await context.newPage(); // a new fragment alone would not reload the page
  try {
    page.on('pageerror', error => console.log(`${name}: ${error.message}`));
    await page.setViewportSize(screen);
    await page.goto(url + path);
    await settle(page);
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await untilDrawn(page);
      const over = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
      if (Number(over) > 0) console.log(`${name}: ${over} px too wide at ${screen.width}`);
      const file = join(options.to, `${name}-${screen.width}-${colorScheme}.png`);
      const fullPage = !['board', 'list', 'api'].includes(name); // these have no end
      await page.screenshot({ path: file, fullPage });
    }
  } finally {
    await page.close();
  }
}

const browser = await openBrowser();
if (!browser) throw new Error('There is no browser here.');
await mkdir(options.to, { recursive: true });
const { email, password } = JSON.parse(await readFile(join(options.data, 'demo.json'), 'utf8')) as {
  email: string;
  password: string;
};
const signedIn = await browser.newContext({ viewport: { width: 1440, height: 900 } });
// A new token for each group of pages: all of them take longer than one is valid.
async function signIn(): Promise<Client> {
  const login = await signedIn.request.post(`${url}/v1/auth/login`, {
    data: { email, password, cookie: true },
  });
  const { access_token } = (await login.json()) as { access_token: string };
  return createClient({ baseUrl: url, token: access_token });
}
await take(signedIn, await insidePages(await signIn()));
const client = await signIn();
const invitation = await client.tenants.createInvitation({ tenant_id, body: { email: invited } });
await take(await browser.newContext(), await portalPages(client));
await take(await browser.newContext(), await outsidePages(await signIn(), invitation.data.token));
await browser.close();
