import { endpoint, raw, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import type { Audit } from '../audit.ts';
import { htmlPage, pageHeaders } from '../html-page.ts';
import { type Origin, originOf } from '../origin.ts';
import type { MailTopic } from '../schema.ts';
import { settle } from '../settle.ts';
import type { Users } from '../users/users.ts';
import * as limits from './limits.ts';
import { type Notices, switchMails } from './notices.ts';

const tags = ['accounts'];
const common = { tenant: 'none', mcp: false, tags } as const;
const page = { description: 'An HTML page', content: { 'text/html': { schema: z.string() } } };
const query = z.strictObject({
  token: z.string().max(limits.unsubscribeTokenChars).describe('The token from the link in the mail'),
});

// Mail programs unsubscribe with a POST (RFC 8058), people with a click. Link scanners open the address too, so a GET
// only asks for confirmation.
const routes = {
  show: route({
    ...common,
    ...readsOnly,
    path: '/v1/mail/unsubscribe',
    operationId: 'accounts.showUnsubscribe',
    auth: 'public',
    summary: 'Show a page to unsubscribe from a kind of notice',
    description: 'The link in the `List-Unsubscribe` header of each mail. Opening it changes nothing.',
    request: { query },
    responses: { 200: page },
  }),
  unsubscribe: route({
    ...common,
    method: 'post',
    path: '/v1/mail/unsubscribe',
    operationId: 'accounts.unsubscribe',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'public',
    summary: 'Unsubscribe from a kind of notice',
    description:
      'Used by the button on that page, and by mail programs for one-click unsubscribe (RFC 8058). `PATCH /v1/me` turns the notices back on.',
    request: { query, body: raw('`List-Unsubscribe=One-Click`; ignored') },
    responses: { 200: page },
    limits: { bodyBytes: limits.unsubscribeBytes },
    problems: ['accounts.changed'],
  }),
};

const names: Readonly<Record<MailTopic, string>> = {
  deliveries: 'about failing deliveries',
  limits: 'about the limits of your plan',
};

export function createUnsubscribeRoutes(deps: {
  users: Users;
  audit: Audit;
  notices: Notices;
  name: string;
}) {
  const { notices, name } = deps;
  const pageOf = (body: string) => htmlPage(name, { title: 'Mails', body });
  const old = pageOf(
    '<p>This link does not work any more. Choose your mails in the console, under Settings, Profile.</p>',
  );
  return [
    endpoint(routes.show, async c => {
      const about = notices.openUnsubscribeToken(c.req.valid('query').token);
      if (!about) return c.html(old, 200, pageHeaders) as never;
      const form = `<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>Stop mails ${names[about.topic]}</button></form>`;
      return c.html(pageOf(form), 200, pageHeaders) as never;
    }),
    endpoint(routes.unsubscribe, async c => {
      const about = notices.openUnsubscribeToken(c.req.valid('query').token);
      if (!about) return c.html(old, 200, pageHeaders) as never;
      await unsubscribe(deps, about, originOf(c));
      const text = `<p>You get no more mails ${names[about.topic]}. You can turn them on again in the console, under Settings, Profile.</p>`;
      return c.html(pageOf(text), 200, pageHeaders) as never;
    }),
  ] as const;
}

async function unsubscribe(
  { users, audit }: { users: Users; audit: Audit },
  { userId, topic }: { userId: string; topic: MailTopic },
  { address, requestId }: Origin,
): Promise<void> {
  const entry = { action: 'account.changed', via: 'mail', by: userId, detail: 'mails', address, requestId };
  await settle(async () => {
    const person = await users.readProfile(userId);
    // Deleted people get no more mails either.
    if (!person || person.deletingAt !== undefined || person.mailsOff?.includes(topic)) return;
    const mailsOff = switchMails(person.mailsOff, { [topic]: false });
    const also = { audit: audit.step(userId, entry) };
    await users.update(userId, { mailsOff }, { ifVersion: person.version, also });
  });
}
