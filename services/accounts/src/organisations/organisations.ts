import { type AccountPrincipal, cursorRefused, endpoint, type PrincipalOf, toPage } from '@stak/http';
import { ignoreConflict, tableErrors, write } from '@stak/table';
import { type Invitation, organisation } from '../access/tables.ts';
import { doneBy } from '../audit.ts';
import { isoTime } from '../deps.ts';
import { accountsErrors, organisationNotFound, userNotFound } from '../errors.ts';
import { type Origin, originOf } from '../origin.ts';
import type { Browser } from '../people/sessions/browser.ts';
import { planOf, shownLimit } from '../plans.ts';
import { type Role, roles } from '../roles.ts';
import {
  acceptInvitation,
  findInvited,
  invite,
  listInvitations,
  lookAtInvitation,
  resendInvitation,
  withdrawInvitation,
} from './invitations.ts';
import {
  type Actor,
  changeRole,
  listMembers,
  type OrganisationDeps,
  removeMember,
  seatsOf,
  transferOwnership,
} from './members.ts';
import { organisationRoutes as routes } from './routes.ts';

type SessionCaller = PrincipalOf<'session'>;
type RequestPart = Parameters<typeof originOf>[0];

export function createOrganisationRoutes(deps: OrganisationDeps & { browser: Browser }) {
  const { store, clock, users, memberships, sessions, browser } = deps;
  const readAccount = async (accountId: string) => {
    const account = await users.readProfile(accountId);
    if (!account) throw userNotFound();
    return account;
  };
  const show = async ({ accountId, role }: AccountPrincipal) => {
    const own = role as Role | undefined;
    const [account, open] = await Promise.all([readAccount(accountId), memberships.read(accountId)]);
    return {
      accountId,
      name: open?.name ?? account.name,
      plan: planOf(account, deps.defaultPlan),
      members: open?.members ?? 1,
      seats: shownLimit(seatsOf(deps, account)),
      ...(own && { role: own }),
      manages: own ? [...roles[own].manages] : [],
    };
  };
  const nameOf = async (accountId: string): Promise<string> =>
    (await memberships.read(accountId))?.name ?? (await readAccount(accountId)).name;

  return [
    endpoint(routes.read, async c => c.json(await show(c.get('principal')), 200)),
    endpoint(routes.rename, async c => {
      const actor = actorOf(c.get('principal'), originOf(c));
      const { accountId } = actor;
      const { name } = c.req.valid('json');
      const [account, open] = await Promise.all([readAccount(accountId), memberships.read(accountId)]);
      const audit = deps.audit.step(accountId, {
        ...actor.entry,
        action: 'organisation.renamed',
        detail: name,
      });
      if (!open) await store.transact(memberships.stepsToOpen(account)).catch(ignoreConflict);
      const set = { name, updatedAt: isoTime(clock.now()) };
      const renamed = write.update(organisation, { accountId }, { set });
      await store.transact({ 'the organisation': renamed, audit }, { pattern: 'rename an organisation' });
      return c.json(await show(c.get('principal')), 200);
    }),
    endpoint(routes.list, async c => {
      const { userId, accountId: current, credentialId } = c.get('principal');
      const within = (await sessions.read(userId, credentialId))?.confinedTo;
      const all = await memberships.list(userId);
      const matching = all.filter(invitation => within === undefined || invitation.accountId === within);
      const data = await Promise.all(
        matching.map(async ({ accountId, role }) => ({
          accountId,
          name: await nameOf(accountId),
          role,
          isCurrent: accountId === current,
        })),
      );
      return c.json({ data, next_cursor: null }, 200);
    }),
    endpoint(routes.create, async c => {
      const { userId, credentialId } = c.get('principal');
      const { name } = c.req.valid('json');
      const person = await readAccount(userId);
      await sessions.requireWhole(userId, credentialId, person.madeFor);
      if (deps.outbox.isOpen && !person.emailVerified)
        throw accountsErrors.create('accounts.email_unverified', 'Verify your e-mail address first.');
      const accountId = c.get('ids').next('org');
      await memberships.createOwn(person, { accountId, name }, doneBy(c.get('principal'), originOf(c)));
      return c.json({ accountId, name, role: 'owner' as const, isCurrent: false }, 201);
    }),
    endpoint(routes.leave, async c => {
      const { accountId } = c.req.valid('param');
      const { userId } = c.get('principal');
      const role = await memberships.roleIn(accountId, userId);
      if (role === undefined) throw organisationNotFound();
      if (accountId !== c.get('principal').accountId)
        await sessions.requireWhole(userId, c.get('principal').credentialId);
      await removeMember(deps, { ...actorOf(c.get('principal'), originOf(c)), accountId, role }, userId);
      return c.body(null, 204);
    }),
    endpoint(routes.switch, async c => {
      browser.checkOrigin(c);
      const { userId, credentialId: sessionId } = c.get('principal');
      const { accountId, cookie } = c.req.valid('json');
      const signedIn = await sessions.switchTo(accountId, { userId, sessionId, ...originOf(c) });
      return c.json(browser.answer(c, signedIn, cookie), 200);
    }),
    endpoint(routes.listMembers, async c => {
      const page = await listMembers(deps, c.get('principal').accountId, c.req.valid('query')).catch(
        refuseCursor,
      );
      return c.json(toPage(page), 200);
    }),
    endpoint(routes.changeRole, async c => {
      const changed = { ...c.req.valid('param'), ...c.req.valid('json') };
      await changeRole(deps, actorOf(c.get('principal'), originOf(c)), signedOf(c), changed);
      return c.body(null, 204);
    }),
    endpoint(routes.remove, async c => {
      await removeMember(deps, actorOf(c.get('principal'), originOf(c)), c.req.valid('param').userId);
      return c.body(null, 204);
    }),
    endpoint(routes.transfer, async c => {
      const { userId } = c.req.valid('param');
      const { password } = c.req.valid('json');
      await transferOwnership(deps, actorOf(c.get('principal'), originOf(c)), signedOf(c), {
        userId,
        password,
      });
      return c.body(null, 204);
    }),
    endpoint(routes.listInvitations, async c => {
      const invitations = await listInvitations(deps, c.get('principal').accountId);
      return c.json({ data: invitations.map(showInvitation), next_cursor: null }, 200);
    }),
    endpoint(routes.invite, async c => {
      const actor = actorOf(c.get('principal'), originOf(c));
      const { email, role } = c.req.valid('json');
      const creationId = c.get('ids').next();
      const before = c.get('isRepeated') ? await findInvited(deps, actor, email, creationId) : undefined;
      const made = before ?? (await invite(deps, actor, signedOf(c), { email, role, creationId }));
      return c.json(showInvitation(made), 201);
    }),
    endpoint(routes.resend, async c => {
      const actor = actorOf(c.get('principal'), originOf(c));
      const sent = await resendInvitation(deps, actor, c.req.valid('param').invitationId);
      return c.json(showInvitation(sent), 200);
    }),
    endpoint(routes.withdraw, async c => {
      const actor = actorOf(c.get('principal'), originOf(c));
      await withdrawInvitation(deps, actor, c.req.valid('param').invitationId);
      return c.body(null, 204);
    }),
    endpoint(routes.look, async c => {
      browser.checkOrigin(c);
      const invitation = await lookAtInvitation(deps, c.req.valid('json').token, originOf(c));
      return c.json({ ...invitation, expiresAt: isoTime(invitation.expiresAt * 1000) }, 200);
    }),
    endpoint(routes.accept, async c =>
      c.json(await acceptInvitation(deps, signedOf(c), c.req.valid('json').token), 200),
    ),
  ] as const;
}

const actorOf = (principal: SessionCaller, origin: Origin): Actor => ({
  accountId: principal.accountId,
  userId: principal.userId,
  role: principal.role as Role,
  address: origin.address,
  entry: doneBy(principal, origin),
});

const signedOf = (c: RequestPart & { get(name: 'principal'): SessionCaller }) => {
  const { userId, credentialId: sessionId } = c.get('principal');
  return { userId, sessionId, ...originOf(c) };
};

const showInvitation = ({ invitationId, email, role, invitedBy, sentAt, expiresAt }: Invitation) => ({
  invitationId,
  email,
  role,
  invitedBy,
  sentAt,
  expiresAt: isoTime(expiresAt * 1000),
});

function refuseCursor(error: unknown): never {
  throw tableErrors.includes(error) && error.code === 'table.cursor_refused' ? cursorRefused(error) : error;
}
