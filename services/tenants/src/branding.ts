import { nameSchemas } from '@stak/http';
import { parseUrl } from '@stak/kit';
import { z } from 'zod';
import type { EnteredTenant } from './access/gate.ts';
import type { TenantMail } from './deps.ts';
import * as limits from './limits.ts';

// The appearance of a tenant's portal, and which pages may show it. Everything here becomes part of our page or of a
// header, so its format is narrow.

// URL parsers accept `*`, `;` and `'` in a host, which would have a meaning in a header.
const plainHost = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:]+\])$/;

function urlOf(text: string): URL | undefined {
  const url = parseUrl(text);
  return url && plainHost.test(url.hostname) ? url : undefined;
}

// Images that contain only pixels. In an <img> no format can run a script; these cannot anywhere.
const dataUrl = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;

function isLogo(text: string): boolean {
  if (text.startsWith('data:')) return text.length <= limits.logoBytes && dataUrl.test(text);
  const url = urlOf(text);
  return (
    url?.protocol === 'https:' &&
    url.username === '' &&
    url.password === '' &&
    text.length <= limits.logoUrlChars
  );
}

const isLoopback = ({ hostname }: URL): boolean => /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);

function isOrigin(text: string): boolean {
  const url = urlOf(text);
  return url?.origin === text && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url)));
}

export const logo = z
  .string()
  .max(limits.logoBytes)
  .refine(
    text => text === '' || isLogo(text),
    `An https:// address, or data:image/png, jpeg, gif or webp in base64 of at most ${limits.logoBytes} characters`,
  );
export const color = z
  .string()
  .max(7)
  .regex(/^(?:#[0-9a-fA-F]{6})?$/, 'Like #0f766e');
export const frameAncestors = z
  .array(z.string().max(limits.originChars).refine(isOrigin, 'An origin, like https://app.example.com'))
  .max(limits.frameAncestors);

export const portalShape = z.strictObject({
  tenant_id: z.string().describe('The id of the tenant.'),
  name: z.string().describe('The title of the portal.'),
  logo: z.string().optional().describe('An https:// URL, or the image itself as a data: URL'),
  color: z.string().optional().describe('The colour of buttons and links'),
  header_color: z.string().optional().describe('The colour of the bar at the top'),
  sign_in: z.boolean().describe('Whether users can sign in with a mailed code'),
  provider: z.boolean().describe('Whether users can sign in through the provider of the tenant'),
});
nameSchemas({ Portal: portalShape });
export type Portal = z.infer<typeof portalShape>;

// Without mail, users cannot sign in by mail, whatever the settings say.
export function portalOf(
  { tenant_id, name, settings }: EnteredTenant,
  ways: { mail: boolean; provider: boolean },
): Portal {
  const { portal_name, portal_logo, portal_color, portal_header_color, portal_sign_in } = settings;
  return {
    tenant_id,
    name: portal_name || name,
    ...(portal_logo && { logo: portal_logo }),
    ...(portal_color && { color: portal_color }),
    ...(portal_header_color && { header_color: portal_header_color }),
    sign_in: ways.mail && portal_sign_in === 'mail',
    provider: ways.provider,
  };
}

// The sender's name and appearance in a mail. For an unverified account, the server's own name is used.
export async function mailedBrand(
  { mayName }: Pick<TenantMail, 'mayName'>,
  entered: EnteredTenant,
): Promise<Record<string, string>> {
  const { tenant_id, account_id } = entered;
  const { name, color = '' } = portalOf(entered, { mail: true, provider: false });
  return { tenant_id, ...((await mayName(account_id)) && { tenant: name, color }) };
}

// For the Content-Security-Policy of the page.
export type PortalPage = { frameAncestors: readonly string[]; logoOrigin?: string };

export function portalPageOf({ settings }: EnteredTenant): PortalPage {
  const { portal_frame_ancestors, portal_logo } = settings;
  const url = portal_logo.startsWith('https:') ? urlOf(portal_logo) : undefined;
  return { frameAncestors: portal_frame_ancestors, ...(url && { logoOrigin: url.origin }) };
}
