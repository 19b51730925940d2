import { readFile } from 'node:fs/promises';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openBrowser } from './browser.ts';
import { type Model, openModel } from './model.ts';
import { openPage, openSignedInPage } from './signed-in-page.ts';
import { openTenantPage } from './tenant-page.ts';
import { openDestination, openTestServer, type TestServer } from './test-server.ts';
import { expectUsable, findBarriers, follow, overhang } from './usability.ts';

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

const enter = (context?: BrowserContextOptions) => openTenantPage(browser!, server.url, { context });
const pane = (page: Page) => page.getByRole('region', { name: 'Conversation' });
const log = (page: Page) => page.getByRole('log', { name: 'Turns' });
const badge = (page: Page) => log(page).getByRole('group', { name: 'How it was answered' });

async function say(page: Page, content: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(content);
  await page.keyboard.press('Enter');
}

async function choose(page: Page, thing: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions of ${thing}` }).click();
  await page.getByRole('menuitem', { name: action }).click();
}

const act = (page: Page, action: string) => choose(page, 'this conversation', action);

describe.skipIf(!browser)(browser ? 'the agents page' : 'the agents page (needs a browser)', slowly, () => {
  it('creates a tenant, talks to its agent, and turns the agent off and on', async () => {
    const { page, failures } = await openSignedInPage(browser!, server.url, { path: '/console/' });
    await page.getByRole('navigation', { name: 'Main' }).getByText('Agents').click();
    await page.getByText('There is no tenant yet').waitFor();
    await page.getByRole('button', { name: 'New tenant' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Outlocks');
    await page.getByRole('button', { name: 'Create tenant' }).click();
    await page.getByRole('button', { name: 'Hello', exact: true }).click();
    await badge(page).getByText('rule: greeting').waitFor();
    await badge(page).getByText('no tokens · $0').waitFor();

    await choose(page, 'this tenant', 'Suspend…');
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('This tenant is suspended').waitFor();
    await page.getByRole('link', { name: '← Agents' }).click();
    await page.getByRole('row', { name: /Outlocks.*Suspended/ }).waitFor();
    await page.getByRole('link', { name: 'Outlocks' }).click();
    await page.getByRole('button', { name: 'Activate' }).click();
    await page.getByRole('navigation', { name: 'Conversations' }).getByText('Hello').click();
    await badge(page).getByText('rule: greeting').waitFor();
    expect(failures).toEqual([]);
  });

  it('asks before the agent acts, and continues after approval', async () => {
    const { page, client, tenant_id, open, failures } = await enter();
    const body = { enabled_skills: ['create_task'] };
    await client.tenants.updateSettings({ tenant_id, body }, { ifMatch: '*' });
    await open();
    await say(page, 'create task: buy milk');
    const approval = page.getByRole('region', { name: 'Approval of create_task' });
    await approval.getByText('"title": "buy milk"').waitFor();
    await page.getByText('Waiting for an approval…').waitFor();
    await expectUsable(page, 'an approval');
    await approval.getByRole('button', { name: 'Approve' }).click();
    await log(page).getByText('Created the task "buy milk"').waitFor();
    await approval.waitFor({ state: 'detached' });
    expect(failures).toEqual([]);
  });

  it('streams an answer while other pages are open, and shows what it cost', async () => {
    const { page, client, tenant_id, open, failures } = await enter();
    // The first message is sent before the page has loaded the users.
    const sending = page.locator('button[aria-label=Send][data-loading]');
    await page.route(/\/users\?/, route => sending.waitFor().then(() => route.continue()), { times: 1 });
    await open();
    await say(page, 'Who discovered radium?');
    const answer = await model.isAsked();
    answer.say('Marie ', 'Curie');
    await log(page).getByText('Marie Curie').waitFor();
    expect(await badge(page).count()).toBe(0);
    const url = page.url();
    await page.getByRole('button', { name: 'Users and settings' }).click();
    await page.getByRole('row', { name: /Ann/ }).waitFor();
    answer.say(' and her husband');
    await page.goBack();
    await log(page).getByText('Marie Curie and her husband').waitFor();
    expect(page.url()).toBe(url);
    await page.context().setOffline(true);
    await page.getByText('The server cannot be reached').waitFor();
    answer.say(' Pierre.');
    answer.finish();
    await page.context().setOffline(false);
    await badge(page).getByText('openai-compatible/parrot').waitFor();
    await badge(page).getByText('100 in, 20 out tokens').waitFor();
    await log(page).getByText('Marie Curie and her husband Pierre.').waitFor();

    const { data } = await client.agents.listConversations({ tenant_id, user_id: 'ann' });
    const { conversation_id } = data.data[0]!;
    const turns = await client.agents.listMessages({ tenant_id, conversation_id });
    expect(turns.data.data).toMatchObject([{ routing: 'model', usage: { output_tokens: 20 } }]);
    await page.getByRole('tab', { name: 'Usage' }).click();
    await page.getByText('100 in, 20 out', { exact: true }).waitFor();
    await page.getByRole('img', { name: /Messages by day.*: 1/ }).waitFor();
    expect(failures).toEqual([]);
  });

  it('shows why there is no answer, and sends the message again', async () => {
    const { page, client, tenant_id, open } = await enter();
    const allow = (messages_per_day: number) =>
      client.tenants.updateSettings({ tenant_id, body: { messages_per_day } }, { ifMatch: '*' });
    await allow(0);
    await open();
    await say(page, 'Hello');
    await pane(page).getByRole('alert').getByText('has used its 0 messages for today').waitFor();
    await allow(10);
    await pane(page).getByRole('button', { name: 'Say it again' }).click();
    await badge(page).getByText('rule: greeting').waitFor();
    expect(await pane(page).getByRole('alert').count()).toBe(0);
  });

  it('lists conversations, and renames, exports, clears and deletes one', async () => {
    const { page, client, tenant_id, open, failures } = await enter();
    const conversation = { tenant_id, conversation_id: 'first' };
    await client.agents.sendMessage({ ...conversation, body: { content: 'Hello there', user_id: 'ann' } });
    await open();
    const list = page.getByRole('navigation', { name: 'Conversations' });
    await list.getByText('Hello there').click();
    await act(page, 'Rename…');
    await page.getByRole('textbox', { name: 'Title' }).fill('About tea');
    await page.getByRole('button', { name: 'Rename' }).click();
    await list.getByText('About tea').waitFor();

    const download = page.waitForEvent('download');
    await act(page, 'Export');
    const lines = (await readFile(await (await download).path(), 'utf8')).trim().split('\n');
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ kind: 'end' });

    await act(page, 'Clear…');
    await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click();
    await badge(page).waitFor({ state: 'detached' });
    const { data } = await client.agents.getConversation(conversation);
    expect(data).toMatchObject({ title: 'About tea', messages: [] });
    await act(page, 'Delete…');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await list.getByText('There is no conversation yet').waitFor();
    await expect(client.agents.getConversation(conversation)).rejects.toMatchObject({ status: 404 });
    expect(failures).toEqual([]);
  });

  it('saves settings, and does not overwrite changes from another window', async () => {
    const { page, client, tenant_id, open, failures } = await enter();
    const other = await page.context().newPage();
    await open('?tab=settings');
    await other.goto(page.url());
    const prompt = (window: Page) => window.getByRole('textbox', { name: 'Instructions' });
    const save = (window: Page) => window.getByRole('button', { name: 'Save settings' }).click();
    await prompt(page).fill('Be brief.');
    await prompt(other).fill('Be thorough.');
    await save(page);
    await page.getByText('Saved.').waitFor();
    await save(other);
    await other.getByText('Somebody else has saved these settings').waitFor();
    await expect.poll(() => prompt(other).inputValue()).toBe('Be thorough.');
    await other.getByRole('button', { name: 'Show what was saved' }).click();
    await expect.poll(() => prompt(other).inputValue()).toBe('Be brief.');
    await prompt(other).fill('Be brief and thorough.');
    await save(other);
    await other.getByText('Saved.').waitFor();
    const { data } = await client.tenants.getSettings({ tenant_id });
    expect(data.system_prompt_override).toBe('Be brief and thorough.');
    expect(data.enabled_skills).toEqual(['remember']);

    await other.getByRole('textbox', { name: 'Messages a day', exact: true }).fill('20000000');
    await save(other);
    await expect
      .poll(async () => (await client.tenants.getSettings({ tenant_id })).data.messages_per_day)
      .toBe(10_000_000); // the field knows its bounds
    expect(failures).toEqual([]);
  });

  it('shows memories, edits them and deletes them', async () => {
    const { page, client, tenant_id, open, failures } = await enter();
    await open();
    await page.getByRole('button', { name: 'Remember that I like tea' }).click();
    await badge(page).getByText('remember', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Memory' }).click();
    await page.getByRole('button', { name: 'Edit: I like tea' }).click();
    const [item] = (await client.agents.listMemory({ tenant_id, user_id: 'ann' })).data.data;
    const { session_id: conversation_id } = item!;
    // Facts that the agent learns during an edit are not lost.
    const learnt = { content: 'Remember that I take no sugar' };
    await client.agents.sendMessage({ tenant_id, conversation_id, body: learnt });
    await page.getByRole('textbox', { name: 'Fact' }).fill('I like coffee');
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByRole('button', { name: 'Forget: I like coffee' }).waitFor();
    const facts = async () => {
      const { data } = await client.agents.listMemory({ tenant_id, user_id: 'ann' });
      return data.data.flatMap(one => one.key_facts.map(({ fact }) => fact));
    };
    expect(await facts()).toEqual(['I like coffee', 'I take no sugar']);
    await page.getByRole('button', { name: 'Forget: I take no sugar' }).click();
    await expect.poll(facts).toEqual(['I like coffee']);

    await page.getByRole('textbox', { name: 'In a few sentences' }).fill('A regular.');
    await page.getByRole('region', { name: 'Summary' }).getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await client.agents.getMemorySettings({ tenant_id, user_id: 'ann' })).data)
      .toMatchObject({ memory_summary: 'A regular.' });
    await page.getByRole('switch', { name: 'Remember Ann' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
    await page.getByText('Nothing is remembered yet').waitFor();
    expect(await facts()).toEqual([]);
    expect(failures).toEqual([]);
  });

  it('adds a user and a channel', async () => {
    const { page, client, tenant_id, open, failures } = await enter();
    await open('?tab=users');
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Bob');
    await page.getByRole('textbox', { name: 'ID', exact: true }).fill('bob');
    await page.getByRole('button', { name: 'Create user' }).click();
    await choose(page, 'Bob', 'Change…');
    await page.getByRole('textbox', { name: 'Telegram' }).fill('4711');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /Bob.*Telegram/ }).waitFor();

    await open('?tab=channels');
    await page.getByRole('button', { name: 'Add channel' }).click();
    await page.getByLabel('Provider').first().click();
    await page.getByRole('option', { name: 'Telegram' }).click();
    await page.getByRole('textbox', { name: 'ID of the bot' }).fill(`777${tenant_id.slice(5)}`);
    await page.getByRole('dialog').getByRole('button', { name: 'Add channel' }).click();
    await page.getByRole('textbox', { name: /Secret token/ }).fill('too short');
    await page.getByRole('textbox', { name: 'Bot token' }).fill('777:from-the-botfather');
    await page.getByRole('button', { name: 'Save secrets' }).click();
    await page.getByRole('alert').getByText('16 to 256 letters').waitFor();
    await page.getByRole('textbox', { name: /Secret token/ }).fill('sixteen-characters-or-more');
    await page.getByRole('button', { name: 'Save secrets' }).click();
    await page.getByRole('row', { name: /Telegram.*Given/ }).waitFor();
    await page.getByRole('switch', { name: 'Telegram' }).click();
    await expect
      .poll(async () => (await client.tenants.getSettings({ tenant_id })).data.enabled_channels)
      .toEqual(['dashboard', 'telegram']);
    expect(failures).toEqual([]);
  });

  it('invites a person, who accepts and becomes a user', async () => {
    const { page, client, tenant_id, open, failures } = await enter({ colorScheme: 'light' });
    const dialog = page.getByRole('dialog');
    const link = () => dialog.getByText('/console/invitation#').innerText();
    const invited = (email: string, action: string) => choose(page, `the invitation of ${email}`, action);
    await open('?tab=users');
    await page.getByText('There are no open invitations').waitFor();
    await page.getByRole('button', { name: 'Invite a user' }).click();
    await page.getByRole('textbox', { name: 'E-mail' }).fill('bob@example');
    await page.getByRole('textbox', { name: 'ID', exact: true }).fill('bob');
    await page.keyboard.press('Enter');
    await dialog.getByText('Must be an e-mail address').first().waitFor();
    await expectUsable(page, 'an invitation');
    await page.getByRole('textbox', { name: 'E-mail' }).fill('bob@example.com');
    await page.keyboard.press('Enter');
    const replaced = await link();
    await dialog.getByRole('button', { name: 'Copy', exact: true }).and(page.locator(':focus')).waitFor();
    await expectUsable(page, 'its link');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await invited('bob@example.com', 'New link…');
    await dialog.getByRole('button', { name: 'Create a new link' }).click();
    const good = await link();

    const { page: invitee } = await openPage(browser!, { colorScheme: 'light' });
    const accept = async (address: string) => {
      await invitee.goto(address);
      await invitee.getByRole('textbox', { name: 'Name' }).fill('Bob');
      await invitee.getByRole('button', { name: 'Accept' }).click();
    };
    await accept(replaced);
    await invitee.getByRole('alert').getByText('Invitation not found').waitFor();
    await expectUsable(invitee, 'the page of an invitation');
    await accept(good);
    await invitee.getByRole('heading', { name: 'Welcome, Bob' }).waitFor();

    const { data } = await client.tenants.createInvitation({ tenant_id, body: { email: 'eve@example.com' } });
    await page.reload();
    await page.getByRole('row', { name: /Bob.*bob@example.com/ }).waitFor();
    await invited('eve@example.com', 'Revoke…');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('There are no open invitations').waitFor();
    const invitation = client.tenants.acceptInvitation({ body: { token: data.token, display_name: 'Eve' } });
    await expect(invitation).rejects.toMatchObject({ status: 404 });
    expect(failures).toEqual([]);
  });

  it('switches skills, and registers one that the tenant serves itself', async () => {
    const destination = await openDestination(200);
    onTestFinished(() => destination.close());
    const { page, client, tenant_id, open, failures } = await enter({ colorScheme: 'light' });
    const settings = async () => (await client.tenants.getSettings({ tenant_id })).data;
    const field = (name: string) => page.getByRole('textbox', { name, exact: true });
    await open('?tab=skills');
    await page.getByRole('switch', { name: 'usage' }).click();
    await expect.poll(async () => (await settings()).enabled_skills).toEqual(['remember', 'usage']);

    await page.getByRole('button', { name: 'Register a skill' }).click();
    await field('Name').fill('opening_hours');
    await field('What it does').fill('Tells when the shop is open.');
    await field('Address').fill(destination.url);
    await field('Trigger phrases').fill('opening hours');
    await field('Arguments').fill('[]');
    const register = page.getByRole('button', { name: 'Register', exact: true });
    await register.click();
    await page.getByText('Enter a JSON object').waitFor();
    await expectUsable(page, 'a new skill');
    await page.getByRole('button', { name: 'Show an example' }).click();
    await field('Arguments').fill('{ "type": "object" }');
    await page.getByRole('button', { name: 'Call it' }).click();
    await page.getByRole('status', { name: 'Answer' }).getByText('Answered').waitFor();
    expect(JSON.parse(destination.bodies[0]!)).toMatchObject({ skill: 'opening_hours', user_id: null });
    await register.click();
    await page.getByText(/^whsec_/).waitFor();
    await expectUsable(page, 'its secret');
    await page.getByRole('button', { name: 'Done' }).click();
    const enabled = page.getByRole('switch', { name: 'opening_hours is enabled' });
    await enabled.and(page.locator(':checked')).waitFor();
    await page.getByRole('tab', { name: 'Chat' }).click();
    await say(page, 'What are your opening hours?');
    await badge(page).getByText('opening_hours').first().waitFor();
    expect(JSON.parse(destination.bodies[1]!)).toMatchObject({ skill: 'opening_hours', user_id: 'ann' });

    await page.getByRole('tab', { name: 'Skills' }).click();
    await choose(page, 'opening_hours', 'Change…');
    await field('Sample arguments').fill('{ "day": "Monday" }');
    await page.getByRole('button', { name: 'Call it' }).click();
    await page.getByRole('status', { name: 'Answer' }).getByText('Answered').waitFor();
    expect(JSON.parse(destination.bodies[2]!)).toMatchObject({ arguments: { day: 'Monday' } });
    // The trial uses the typed values, not the saved ones.
    await field('Arguments').fill('{ "type": "object", "required": ["month"] }');
    await page.getByRole('button', { name: 'Call it' }).click();
    await page.getByText(/invalid arguments.*month/).waitFor();
    expect(destination.bodies).toHaveLength(3);
    await field('Arguments').fill('{ "type": "object" }');
    expect(await findBarriers(page)).toEqual([]);
    await field('What it does').fill('Knows the hours.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /Knows the hours.*opening hours/ }).waitFor();
    await choose(page, 'opening_hours', 'Remove…');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('There are none yet').waitFor();
    expect((await settings()).custom_skills).toEqual([]);
    expect(failures).toEqual([]);
  });

  it('is accessible, in light and dark and on a phone', async () => {
    const { page, client, tenant_id, open, failures } = await enter({ colorScheme: 'light' });
    const conversation = { tenant_id, conversation_id: 'first' };
    const content = 'Remember that I like tea';
    await client.agents.sendMessage({ ...conversation, body: { content, user_id: 'ann' } });
    await open();
    // Each tab, and what is there when it is ready.
    const ready = {
      Chat: 'Talk to the agent',
      Usage: 'Messages by day',
      Memory: 'this conversation',
      Users: 'No e-mail',
      Channels: 'There is no channel yet',
      Skills: 'There are none yet',
      Settings: 'Save settings',
    };
    for (const [tab, text] of Object.entries(ready)) {
      await follow(page, `/console/agents/${tenant_id}?tab=${tab.toLowerCase()}`);
      await page.getByText(text).first().waitFor();
      if (tab === 'Chat') {
        await page.getByRole('navigation', { name: 'Conversations' }).getByText(content).click();
        await badge(page).waitFor();
      }
      await expectUsable(page, tab);
    }
    await page.setViewportSize({ width: 390, height: 800 });
    await open('?conversation=first');
    await expect.poll(() => overhang(page)).toBe(0);
    await page.getByRole('button', { name: 'All conversations' }).click();
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.getByText('Talk to the agent').waitFor();
    expect(failures).toEqual([]);
  });
});
