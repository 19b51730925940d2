import type { Browser, BrowserContextOptions } from 'playwright-core';
import { openSignedInPage, type SignedInPage } from './signed-in-page.ts';

type TenantPage = SignedInPage & { tenant_id: string; open(search?: string): Promise<void> };
type Options = { user?: { user_id: string; display_name: string }; context?: BrowserContextOptions };

let tenants = 0;

// The agents page of a new tenant with a user and a model. It is blank until opened.
export async function openTenantPage(
  browser: Browser,
  url: string,
  { user = { user_id: 'ann', display_name: 'Ann' }, context = {} }: Options = {},
): Promise<TenantPage> {
  const signedIn = await openSignedInPage(browser, url, context);
  const { page, client } = signedIn;
  const tenant_id = `shop-${++tenants}`;
  await client.tenants.create({ body: { tenant_id, name: 'Shop', status: 'active' } });
  await client.tenants.createUser({ tenant_id, body: user });
  const settings = { ai_provider: 'openai-compatible', ai_model: 'parrot', enabled_skills: ['remember'] };
  await client.tenants.updateSettings({ tenant_id, body: settings }, { ifMatch: '*' });
  const open = async (search = '') => {
    await page.goto(`${url}/console/agents/${tenant_id}${search}`);
  };
  return { ...signedIn, tenant_id, open };
}
