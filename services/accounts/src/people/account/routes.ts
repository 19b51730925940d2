import {
  cursorRefused,
  empty,
  endpoint,
  etagOf,
  expectedVersion,
  json,
  type PrincipalOf,
  pageOf,
  readsOnly,
  route,
  toPage,
  versionMismatch,
} from '@stak/http';
import { tableErrors } from '@stak/table';
import { z } from 'zod';
import { doneBy, showEntry } from '../../audit.ts';
import { isoTime } from '../../deps.ts';
import { accountsErrors, userNotFound } from '../../errors.ts';
import type { AuditEntry } from '../../main-table.ts';
import { switchMails, wantedMails } from '../../notices/notices.ts';
import { originOf } from '../../origin.ts';
import { type PlanName, planOf } from '../../plans.ts';
import type { Role } from '../../roles.ts';
import {
  auditQuery,
  auditSchema,
  callerSchema,
  mailSwitches,
  meSchema,
  nameSchema,
  passwordSchema,
  triedPasswordSchema,
} from '../../schema.ts';
import type { User } from '../../users/users.ts';
import { requireFresh, type SignInDeps } from '../credentials/owner.ts';
import { hasFactor } from '../credentials/tables.ts';
import type { Browser } from '../sessions/browser.ts';
import { changePassword } from '../sign-in/sign-in.ts';
import type { Deletions } from './deletion.ts';

const tags = ['accounts'];
const common = { tenant: 'none', mcp: false, tags } as const;
const proof = triedPasswordSchema
  .optional()
  .describe('Not needed if the account has no password and you have just signed in');

const routes = {
  whoAmI: route({
    ...common,
    ...readsOnly,
    path: '/v1/whoami',
    operationId: 'accounts.whoAmI',
    tenant: 'any-key',
    mcp: 'reads',
    auth: 'user',
    scope: 'read',
    endUserScope: 'any',
    summary: 'Get the caller of a token',
    description:
      'Checks a token without side effects. Returns the account of a session or an API key, or the end user.',
    responses: { 200: json(callerSchema) },
  }),
  getMe: route({
    ...common,
    ...readsOnly,
    path: '/v1/me',
    operationId: 'accounts.getMe',
    auth: 'account',
    scope: 'read',
    summary: 'Get your account',
    description: 'Returns the account of the caller.',
    responses: { 200: json(meSchema) },
  }),
  updateMe: route({
    ...common,
    method: 'patch',
    path: '/v1/me',
    operationId: 'accounts.updateMe',
    reaches: 'nothing',
    audit: 'own',
    stores: 'edit',
    auth: 'account',
    scope: 'admin',
    isOwn: true,
    conditional: 'optional',
    summary: 'Update your account',
    description: 'Changes your name, or which notices you get by mail. What is left out stays as it is.',
    request: {
      body: json(
        z.strictObject({
          name: nameSchema.optional(),
          mails: z
            .strictObject(mailSwitches)
            .partial()
            .optional()
            .describe('The notices that you want by mail'),
        }),
      ),
    },
    responses: { 200: json(meSchema) },
    problems: ['accounts.being_deleted', 'accounts.changed', 'accounts.session_confined'],
  }),
  changePassword: route({
    ...common,
    method: 'post',
    path: '/v1/me/password',
    operationId: 'accounts.changePassword',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'person',
    summary: 'Change or set your password',
    description: 'Ends all your other sessions.',
    request: { body: json(z.strictObject({ currentPassword: proof, newPassword: passwordSchema })) },
    responses: { 204: empty() },
    problems: [
      'accounts.password_wrong',
      'accounts.password_weak',
      'accounts.sign_in_again',
      'accounts.step_up_needed',
      'accounts.changed',
      'accounts.too_many_attempts',
      'accounts.busy',
    ],
  }),
  deleteMe: route({
    ...common,
    method: 'post',
    path: '/v1/me/deletion',
    operationId: 'accounts.deleteMe',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'person',
    summary: 'Delete your account and everything in it',
    description:
      'Signs you out everywhere and revokes your keys at once. Everything else is deleted in the background, including organisations of which you are the only owner and member. Organisations with other owners stay.',
    request: { body: json(z.strictObject({ password: proof })) },
    responses: { 202: empty('The deletion has started') },
    problems: [
      'accounts.last_owner',
      'accounts.step_up_needed',
      'accounts.password_wrong',
      'accounts.sign_in_again',
      'accounts.changed',
      'accounts.too_many_attempts',
      'accounts.busy',
    ],
  }),
  listAudit: route({
    ...common,
    ...readsOnly,
    path: '/v1/audit',
    operationId: 'accounts.listAudit',
    auth: 'account',
    scope: 'admin',
    summary: 'List the audit trail, newest first',
    description:
      'With filters, a page may have few entries or none and still a `next_cursor`: it ends after a number of entries that were read.',
    request: { query: auditQuery },
    responses: { 200: json(pageOf(auditSchema)) },
  }),
  exportAudit: route({
    ...common,
    method: 'get',
    path: '/v1/audit/export',
    operationId: 'accounts.exportAudit',
    reaches: 'nothing',
    audit: true,
    stores: 'line',
    auth: 'account',
    scope: 'admin',
    summary: 'Export the audit trail',
    description:
      'One JSON object per line, as in `GET /v1/audit`, newest first. Entries are kept for a year.',
    responses: {
      200: { description: 'Lines of JSON', content: { 'application/x-ndjson': { schema: z.unknown() } } },
    },
  }),
};

export type UserRoutesDeps = SignInDeps & {
  browser: Browser;
  deletions: Deletions;
  defaultPlan: PlanName;
};

// In the format of the entries, so that they can be compared.
const spell = (moment: string | undefined): string | undefined =>
  moment === undefined ? undefined : isoTime(Date.parse(moment));

export function createUserRoutes(deps: UserRoutesDeps) {
  const { users, audit, browser, deletions, defaultPlan } = deps;
  // The person, and what belongs to the organisation they work in.
  const showMe = async (user: User, accountId: string) => {
    const account = accountId === user.userId ? user : await readUser(accountId);
    return describeUser(user, account, planOf(account, defaultPlan));
  };
  const readUser = async (userId: string): Promise<User> => {
    const user = await users.getById(userId);
    if (!user) throw userNotFound();
    return user;
  };

  return [
    endpoint(routes.whoAmI, c => c.json(showCaller(c.get('principal')), 200)),
    endpoint(routes.getMe, async c => {
      const { accountId, userId = accountId } = c.get('principal');
      const user = await readUser(userId);
      c.header('ETag', etagOf(user.version));
      return c.json(await showMe(user, accountId), 200);
    }),
    endpoint(routes.updateMe, async c => {
      const { accountId, userId = accountId, via, credentialId } = c.get('principal');
      const expected = expectedVersion(c);
      const ifVersion = expected === undefined ? undefined : Number(expected);
      const by = doneBy(c.get('principal'), originOf(c));
      const { name, mails } = c.req.valid('json');
      const current = await readUser(userId);
      if (via === 'session') await deps.sessions.requireWhole(userId, credentialId, current.madeFor);
      else if (accountId !== userId)
        throw accountsErrors.create(
          'accounts.session_confined',
          'This key is for an organisation. Sign in to change your own account.',
        );
      const change = {
        name,
        ...(mails && { mailsOff: switchMails(current.mailsOff, mails) }),
      };
      const detail = Object.keys(c.req.valid('json')).join(', ');
      const also = { audit: audit.step(userId, { action: 'account.changed', detail, ...by }) };
      const options = { ifVersion: ifVersion ?? (mails && current.version), also };
      const user = await users.update(userId, change, options).catch(error => {
        const isRaced = accountsErrors.includes(error) && error.code === 'accounts.changed';
        throw isRaced && ifVersion !== undefined ? versionMismatch() : error;
      });
      c.header('ETag', etagOf(user.version));
      return c.json(await showMe(user, accountId), 200);
    }),
    endpoint(routes.changePassword, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      await requireFresh(deps, { userId, sessionId });
      await changePassword(deps, { userId, sessionId, ...originOf(c) }, c.req.valid('json'));
      return c.body(null, 204);
    }),
    endpoint(routes.deleteMe, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      await deletions.request({ userId, sessionId, ...originOf(c) }, c.req.valid('json').password);
      browser.clearCookie(c);
      return c.body(null, 202);
    }),
    endpoint(routes.listAudit, async c => {
      const { accountId, userId } = c.get('principal');
      const { from, to, ...query } = c.req.valid('query');
      const asked = { ...query, from: spell(from), to: spell(to) };
      const { items, cursor } = await audit.list(accountId, asked, userId).catch(refuseCursor);
      return c.json(toPage({ items: items.map(showEntry), cursor }), 200);
    }),
    endpoint(
      routes.exportAudit,
      c =>
        c.body(linesOf(audit.all(c.get('principal').accountId, c.get('principal').userId)), 200, {
          'Content-Type': 'application/x-ndjson',
          'Content-Disposition': 'attachment; filename="audit.ndjson"',
        }) as never,
    ),
  ] as const;
}

function showCaller(principal: PrincipalOf<'user'>) {
  if (principal.kind === 'endUser') return principal;
  const { tenants, accountId, userId = accountId, role, ...caller } = principal;
  return {
    ...caller,
    accountId,
    userId,
    ...(role !== undefined && { role: role as Role }),
    ...(tenants && { tenants: [...tenants] }),
  };
}

// Streamed with back pressure: a trail of a year is never in memory.
function linesOf(entries: AsyncGenerator<AuditEntry>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await entries.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(`${JSON.stringify(showEntry(value))}\n`));
    },
    cancel: async () => void (await entries.return(undefined)),
  });
}

function refuseCursor(error: unknown): never {
  throw tableErrors.includes(error) && error.code === 'table.cursor_refused' ? cursorRefused(error) : error;
}

const describeUser = (user: User, account: User, plan: PlanName) => ({
  userId: user.userId,
  email: user.claimedEmail ?? user.email,
  emailVerified: user.emailVerified ?? false,
  name: user.name,
  madeFor: user.madeFor,
  plan,
  hasPassword: user.passwordHash !== undefined,
  secondFactor: hasFactor(user),
  authenticator: user.secondFactor !== undefined,
  passkeys: user.passkeys ?? 0,
  githubId: user.githubId,
  googleId: user.googleId,
  mails: wantedMails(user.mailsOff),
  usageThisMonth: account.usageThisMonth,
  usagePeriodStart: account.usagePeriodStart,
  createdAt: user.createdAt,
  updatedAt: user.updatedAt,
});
