import { openPage } from '@stak/console/test/signed-in-page';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectUsable, openBrowserAndPortal } from './portal-server.ts';

const { browser, server } = await openBrowserAndPortal();
const log = (page: Page) => page.getByRole('log', { name: 'Messages' });

describe.skipIf(!browser)(browser ? 'the chat' : 'the chat (needs a browser)', { timeout: 90_000 }, () => {
  it('collects feedback on an answer, which the host can read', async () => {
    const tenant_id = await server.newTenant({ portal_sign_in: 'host' });
    const conversation_id = 'first';
    const body = { content: 'hello', user_id: 'ann' };
    await server.host.agents.sendMessage({ tenant_id, conversation_id, body });
    const scope = 'agents:chat';
    const { token } = (await server.host.tenants.mintToken({ tenant_id, body: { sub: 'ann', scope } })).data;
    const { page, failures } = await openPage(browser!, { viewport: { width: 390, height: 800 } });
    await page.goto(`${server.url}/portal/${tenant_id}#token=${token}`);
    await page.getByRole('button', { name: 'Continue' }).click();
    const feedback = log(page).getByRole('group', { name: 'Feedback' });
    const thumb = (name: string) => feedback.getByRole('button', { name });
    const rated = async () =>
      (await server.host.agents.listMessages({ tenant_id, conversation_id })).data.data[0]!.feedback;
    await thumb('Bad answer').click();
    await feedback.getByRole('textbox', { name: 'What was wrong with it?' }).fill('Too short.');
    await expectUsable(page, 'feedback');
    await feedback.getByRole('button', { name: 'Save' }).click();
    await feedback.getByText('Too short.').waitFor();
    expect(await rated()).toMatchObject({ rating: 'bad', comment: 'Too short.' });
    await thumb('Good answer').click();
    await thumb('Good answer').and(page.locator('[aria-pressed=true]')).waitFor();
    expect(await rated()).toMatchObject({ rating: 'good', comment: null });
    await thumb('Good answer').click();
    await thumb('Good answer').and(page.locator('[aria-pressed=false]')).waitFor();
    expect(await rated()).toBeNull();

    // Visually hidden text scrolls with the messages and does not make the page longer.
    const hidden = "[...document.querySelectorAll('.stak-portal-log .stak-portal-hidden')]";
    const isInside = "one => one.offsetParent.closest('.stak-portal-log')";
    expect(await page.evaluate(`${hidden}.every(${isInside})`)).toBe(true);
    expect(failures).toEqual([]);
  });

  it('asks before the agent acts, continues after approval, and stores the reason for a rejection', async () => {
    const tenant_id = await server.newTenant({ enabled_skills: ['create_task'] });
    await server.host.tenants.createInvitation({ tenant_id, body: { email: 'lea@example.com', mail: true } });
    const mail = await server.mailTo('lea@example.com', 'Join Bookshop');
    const { page, failures } = await openPage(browser!);
    await page.goto(server.url + /(\/portal\/shop-\d+#invitation=[\w.-]+)/.exec(mail)![1]!);
    await page.getByLabel('Your name').fill('Lea');
    await page.getByRole('button', { name: 'Accept the invitation' }).click();
    await page.getByRole('button', { name: 'New conversation' }).click();
    const approval = page.getByRole('region', { name: 'Approval of create_task' });
    const say = async (content: string) => {
      await page.getByRole('textbox', { name: 'Message' }).fill(content);
      await page.keyboard.press('Enter');
      await page.getByText('Waiting for an approval…').waitFor();
    };
    await say('create task: buy milk');
    await approval.getByText('"title": "buy milk"').waitFor();
    await expectUsable(page, 'an approval');
    await approval.getByRole('button', { name: 'Approve' }).click();
    await log(page).getByText('Created the task "buy milk"').waitFor();
    await approval.waitFor({ state: 'detached' });

    await say('create task: sell the shop');
    await approval.getByText('"title": "sell the shop"').waitFor();
    await approval.getByRole('textbox', { name: 'Reason, if you refuse' }).fill('not for sale');
    await approval.getByRole('button', { name: 'Refuse' }).click();
    await log(page).getByText('create_task was not done: refused: not for sale.').waitFor();
    await approval.waitFor({ state: 'detached' });
    await page.getByRole('navigation').getByRole('link', { name: 'Tasks' }).click();
    await page.getByText('buy milk').waitFor();
    expect(await page.getByText('sell the shop').count()).toBe(0);
    expect(failures).toEqual([]);
  });
});
