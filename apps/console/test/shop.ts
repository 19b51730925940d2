import type { Client } from '@stak/client';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { clientOf, signUp, type Visitor } from './visitor.ts';

type Shop = Visitor & { client: Client; tenant_id: string; open(search?: string): Promise<void> };
type ShopOptions = { user?: { user_id: string; display_name: string }; context?: BrowserContextOptions };

let shops = 0;

// A tenant with a user and a model, of somebody who has just signed up.
export async function openShop(
  browser: Browser,
  url: string,
  { user = { user_id: 'ann', display_name: 'Ann' }, context = {} }: ShopOptions = {},
): Promise<Shop> {
  const visitor = await signUp(browser, url, context);
  const { page } = visitor;
  onTestFinished(() => page.context().close());
  const client = await clientOf(url, visitor);
  const tenant_id = `shop-${++shops}`;
  await client.tenants.create({ body: { tenant_id, name: 'Shop', status: 'active' } });
  await client.tenants.createUser({ tenant_id, body: user });
  const settings = { ai_provider: 'openai-compatible', ai_model: 'parrot', enabled_skills: ['remember'] };
  await client.tenants.updateSettings({ tenant_id, body: settings }, { ifMatch: '*' });
  const open = async (search = '') => {
    await page.goto(`${url}/console/agents/${tenant_id}${search}`);
  };
  return { ...visitor, client, tenant_id, open };
}
