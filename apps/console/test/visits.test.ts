import { createClient } from '@stak/client';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from './browser.ts';
import { type Model, openModel } from './model.ts';
import { openPage, openSignedInPage } from './signed-in-page.ts';
import { openTenantPage } from './tenant-page.ts';
import { openTestServer, type TestServer } from './test-server.ts';
import { expectUsable, findBarriers, overhang } from './usability.ts';

const browser = await openBrowser();
let server: TestServer;
let model: Model;
const slowly = { timeout: 90_000 }; // a browser beside everything else that is tested takes its time

beforeAll(async () => {
  if (!browser) return;
  model = await openModel();
  server = await openTestServer({ STAK_OPENAI_URL: model.url });
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
  model?.close();
});

const layla = { user_id: 'layla', display_name: 'ليلى' };
const enter = () => openTenantPage(browser!, server.url, { user: layla });

const log = (page: Page) => page.getByRole('log', { name: 'Turns' });

async function say(page: Page, content: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(content);
  await page.keyboard.press('Enter');
}

describe.skipIf(!browser)(browser ? 'a visit' : 'a visit (needs a browser)', slowly, () => {
  it('starts on a page of the console, whatever address a link contains', async () => {
    const { page, email, password } = await openSignedInPage(browser!, server.url, { path: '/console/' });
    const signIn = async (to: string) => {
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      await page.goto(`${server.url}/console/sign-in?to=${encodeURIComponent(to)}`);
      await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
      await page.getByLabel('Password').first().fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
    };
    await signIn('https://elsewhere.example/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await signIn('/tasks?view=list');
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    expect(page.url()).toBe(`${server.url}/console/tasks?view=list`);

    await page.goto(`${server.url}/console/nothing/of/this`);
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('needs no browser feature that requires https', async () => {
    const { page } = await openPage(browser!);
    await page.addInitScript('delete Navigator.prototype.locks; delete Navigator.prototype.clipboard;');
    await page.goto(`${server.url}/console/`);
    await page.getByRole('heading', { name: 'Sign in to Stak' }).waitFor();
  });

  it('restores the conversation and its answer after a reload', async () => {
    const { page, client, tenant_id, open, failures } = await enter();
    await open();
    await say(page, 'Who discovered radium?');
    const answer = await model.isAsked();
    answer.say('Marie ', 'Curie');
    await log(page).getByText('Marie Curie').waitFor();
    await page.reload();
    await log(page).getByText('Who discovered radium?').waitFor();
    await log(page).getByText('Marie Curie').waitFor();
    answer.say(' did.');
    answer.finish();
    await log(page).getByRole('group', { name: 'How it was answered' }).waitFor();
    await log(page).getByText('Marie Curie did.').waitFor();
    const [row] = (await client.agents.listConversations({ tenant_id })).data.data;
    expect(row).toMatchObject({ turns: 1, title: 'Who discovered radium?' });
    await page.reload();
    await log(page).getByRole('group', { name: 'How it was answered' }).waitFor();
    await expect.poll(() => log(page).getByText('Who discovered radium?').count()).toBe(1);
    expect(failures).toEqual([]);
  });

  it('reports what was wrong with an answer, and tries other instructions before saving them', async () => {
    const { page, client, tenant_id, open, failures } = await enter();
    const conversation = { tenant_id, conversation_id: 'rated' };
    await client.agents.sendMessage({ ...conversation, body: { content: 'hello', user_id: 'layla' } });
    const rated = async () => (await client.agents.listMessages(conversation)).data.data[0]!.host_feedback;
    const { token } = (
      await client.tenants.mintToken({ tenant_id, body: { sub: 'layla', scope: 'agents:chat' } })
    ).data;
    const body = { rating: 'bad' as const, comment: 'Too loud.' };
    await createClient({ baseUrl: server.url, token }).agents.rateAnswer({ ...conversation, seq: 1, body });
    await open('?conversation=rated');
    const feedback = log(page).getByRole('group', { name: 'Feedback' });
    await feedback.getByText('User: bad answer. Too loud.').waitFor();
    const thumb = (name: string) => feedback.getByRole('button', { name });
    await thumb('Good answer').click();
    await thumb('Good answer').and(page.locator('[aria-pressed=true]')).waitFor();
    await thumb('Bad answer').click();
    await feedback.getByRole('textbox', { name: 'What was wrong with it?' }).fill('Too long.');
    await page.keyboard.press('Enter');
    await feedback.getByText('Too long.').waitFor();
    await expectUsable(page, 'an answer with feedback');
    expect(await rated()).toMatchObject({ rating: 'bad', comment: 'Too long.' });
    await thumb('Bad answer').click();
    await feedback.getByText('Too long.').waitFor({ state: 'detached' });
    expect(await rated()).toBeNull();

    await page.goto(`${server.url}/console/tenants/${tenant_id}?tab=settings`);
    await page.getByRole('textbox', { name: 'Instructions' }).fill('Answer like a sailor.');
    await page.getByRole('textbox', { name: 'A user writes' }).fill('Good morning');
    await page.getByRole('button', { name: 'Ask the model' }).click();
    const answer = await model.isAsked();
    answer.say('Ahoy.');
    answer.finish();
    await page.getByRole('status', { name: 'Answer' }).getByText('Ahoy.').waitFor();
    await expectUsable(page, 'instructions that were tried');
    expect((await client.tenants.getSettings({ tenant_id })).data.system_prompt_override).toBe('');
    expect(failures).toEqual([]);
  });

  it('shows why there is no answer, also at the end of a long conversation', async () => {
    const { page, client, tenant_id, open } = await enter();
    const conversation = { tenant_id, conversation_id: 'long' };
    for (let i = 0; i < 8; i++)
      await client.agents.sendMessage({ ...conversation, body: { content: 'hello', user_id: 'layla' } });
    await client.tenants.updateSettings({ tenant_id, body: { messages_per_day: 8 } }, { ifMatch: '*' });
    await open('?conversation=long');
    await log(page).getByRole('group', { name: 'How it was answered' }).nth(7).waitFor();
    await say(page, 'hello');
    await log(page).getByRole('button', { name: 'Say it again' }).waitFor();
    const hiddenPx = `(() => {
      const box = document.querySelector('[role=log]');
      return box.scrollHeight - box.scrollTop - box.clientHeight;
    })()`;
    await expect.poll(() => page.evaluate(hiddenPx)).toBeLessThan(2);
  });

  it('shows long names and names in other scripts, also on a phone', async () => {
    const { page, client, tenant_id, open } = await enter();
    const user_id = 'u'.repeat(100);
    const display_name = 'Donaudampfschifffahrtsgesellschaftskapitänin'.repeat(2);
    await client.tenants.createUser({ tenant_id, body: { user_id, display_name } });
    const conversation = { tenant_id, conversation_id: 'c' };
    await client.agents.sendMessage({ ...conversation, body: { content: 'hello', user_id: 'layla' } });
    await open('?tab=users');
    const cell = page.getByRole('cell', { name: user_id, exact: true });
    const widthOf = async () => (await cell.boundingBox())!.width;
    await cell.waitFor();
    // The table takes its widths after it has its rows.
    await expect.poll(widthOf).toBeGreaterThan(60);
    // What can be done with a user stands at the end of the row.
    const rightOf = async (found: Locator) => {
      const { x, width } = (await found.boundingBox())!;
      return x + width;
    };
    const row = page.getByRole('row').filter({ has: cell });
    const besideButton = async () => (await rightOf(row)) - (await rightOf(row.getByRole('button')));
    await expect.poll(besideButton).toBeLessThan(16);
    await page.setViewportSize({ width: 390, height: 800 });
    await expect.poll(widthOf).toBeGreaterThan(250);
    await expect.poll(() => rightOf(cell.getByText(user_id))).toBeLessThan(390); // visible without scrolling sideways
    await expect.poll(() => overhang(page)).toBe(0);
    expect(await findBarriers(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await open('?conversation=c');
    await page.getByText('\u2068ليلى\u2069 · 1 turn').waitFor(); // set apart, or the number would change sides
  });
});
