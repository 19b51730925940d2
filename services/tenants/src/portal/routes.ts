import { empty, endpoint, json, nameSchemas, readsOnly, recordLine, route } from '@stak/http';
import { failedCondition, write } from '@stak/table';
import { z } from 'zod';
import { enteredTenant } from '../access/gate.ts';
import { portalShape } from '../branding.ts';
import type { PortalDeps, Service } from '../deps.ts';
import { noTenant, tenantErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { acceptedInvitation, displayText, email, role, tenantId } from '../schema.ts';
import { user as userEntity } from '../tables.ts';
import { acceptInvitation } from '../users/invitations.ts';
import { patchUser, type User } from '../users/users.ts';
import { createCookies } from './browser.ts';
import { type Deps, refreshSession, type SignedIn, signOut, startSession } from './sessions.ts';
import { enterPortal, finishSignIn, readPortal, requestSignIn } from './sign-in.ts';

const tags = ['tenants'] as string[];
const open = { auth: 'public', tags, tenant: 'handler', mcp: false } as const;
const params = z.strictObject({ tenant_id: tenantId });
const base = '/v1/portal/{tenant_id}';
const perAddress = (name: string, limit: number) =>
  ({ name, limit, windowMs: 60_000, by: 'address' }) as const;

const sessionShape = z.strictObject({
  access_token: z
    .string()
    .describe('The token for `Authorization: Bearer …`. It expires after `expires_in` seconds.'),
  token_type: z.literal('Bearer').describe('Always `Bearer`.'),
  expires_at: z.iso.datetime().describe('When the token expires.'),
});
const secret = z.string().min(1).max(200);
const proofShape = z.union([
  z.strictObject({
    attempt: secret.describe('The id of the attempt to sign in.'),
    code: z.string().min(1).max(20).describe('The code from the mail'),
  }),
  z.strictObject({ token: secret.describe('The token from the link in the mail') }),
]);

nameSchemas({ PortalSession: sessionShape });

const routes = {
  portal: route({
    ...open,
    ...readsOnly,
    path: base,
    operationId: 'tenants.getPortal',
    summary: 'Get the appearance of a portal',
    description: 'For tenants whose users can sign in by themselves. Other tenants return 404.',
    request: { params },
    responses: { 200: json(portalShape) },
    problems: ['tenants.not_found'],
  }),
  request: route({
    ...open,
    method: 'post',
    path: `${base}/sign-in`,
    operationId: 'tenants.requestSignIn',
    reaches: 'mail',
    audit: false,
    stores: 'access',
    summary: 'Request a code to sign in to the portal',
    description:
      'Mails a code and a link if a user of the tenant has this address. The response is the same for every address. The code only works together with `attempt`; the link works for anyone who has it.',
    request: { params, body: json(z.strictObject({ email })) },
    responses: {
      202: json(
        z.strictObject({
          attempt: z.string().describe('Send it together with the code'),
          expires_at: z.iso.datetime().describe('When the code expires.'),
        }),
        'What goes with the code',
      ),
    },
    problems: ['tenants.not_found', 'tenants.origin_refused'],
    limits: { bodyBytes: 4096, rate: perAddress('portal mail', limits.signInsPerMinute) },
  }),
  signIn: route({
    ...open,
    method: 'post',
    path: `${base}/session`,
    operationId: 'tenants.signIn',
    reaches: 'nothing',
    audit: false,
    stores: 'access',
    summary: 'Sign in to the portal with a mailed code or link',
    description: 'Returns a short-lived token, and sets an HttpOnly cookie for `refreshSession`.',
    request: { params, body: json(proofShape) },
    responses: { 201: json(sessionShape, 'Signed in') },
    problems: [
      'tenants.not_found',
      'tenants.sign_in_refused',
      'tenants.origin_refused',
      'tenants.just_revoked',
    ],
    limits: { bodyBytes: 4096, rate: perAddress('portal sign-in', limits.signInTriesPerMinute) },
  }),
  join: route({
    ...open,
    method: 'post',
    path: `${base}/join`,
    operationId: 'tenants.joinPortal',
    reaches: 'nothing',
    audit: false,
    stores: 'access',
    summary: 'Accept an invitation and sign in',
    description:
      'Makes the holder of the invitation a user of the tenant and signs them in, as `tenants.signIn` does. Where users sign in only through the provider of the tenant, use `POST /v1/invitations/accept`.',
    request: { params, body: json(acceptedInvitation) },
    responses: { 201: json(sessionShape, 'Signed in') },
    problems: [
      'tenants.not_found',
      'tenants.invitation_not_found',
      'tenants.suspended',
      'tenants.email_taken',
      'tenants.user_exists',
      'tenants.user_limit_reached',
      'tenants.origin_refused',
      'tenants.just_revoked',
    ],
    limits: { bodyBytes: 4096, rate: perAddress('portal join', limits.acceptsPerMinute) },
  }),
  refresh: route({
    ...open,
    method: 'post',
    path: `${base}/session/refresh`,
    operationId: 'tenants.refreshSession',
    reaches: 'nothing',
    audit: false,
    stores: 'access',
    summary: 'Refresh a portal session',
    description:
      'Exchanges the cookie for a new one and returns a new token. Using a cookie twice ends the session.',
    request: { params, body: json(z.strictObject({})) },
    responses: { 200: json(sessionShape) },
    problems: ['tenants.session_refused', 'tenants.origin_refused'],
    limits: { bodyBytes: 4096, rate: perAddress('portal refresh', limits.refreshesPerMinute) },
  }),
  signOut: route({
    ...open,
    method: 'delete',
    path: `${base}/session`,
    operationId: 'tenants.signOut',
    reaches: 'nothing',
    audit: false,
    stores: 'access',
    summary: 'Sign out of the portal',
    description: 'Revokes the tokens of the session.',
    request: { params },
    responses: { 204: empty() },
    problems: ['tenants.origin_refused'],
  }),
  me: route({
    ...readsOnly,
    auth: 'endUser',
    endUserScope: 'any',
    scope: 'read',
    tags,
    path: `${base}/me`,
    operationId: 'tenants.getPortalUser',
    tenant: 'path',
    mcp: false,
    summary: 'Get the signed-in user and what they can do in the portal',
    description: 'Returns the user of the token, the looks of the portal and the inboxes of the tenant.',
    request: { params },
    responses: {
      200: json(
        z.strictObject({
          portal: portalShape.describe('The appearance of the portal'),
          user_id: z.string().describe('The id of the user.'),
          user: z
            .strictObject({
              display_name: z.string().describe('The name that people see.'),
              email: z.string().optional().describe('The e-mail address.'),
              role,
              version: z.int().describe('Grows with every change; the ETag is made from it.'),
            })
            .nullable()
            .describe('Null for a uid that is not a user of the tenant'),
          scope: z.string().describe('What the token may do.'),
          inboxes: z
            .array(
              z.strictObject({
                inbox_key: z.string().describe('The key of the inbox.'),
                title: z.string().describe('The title of the inbox.'),
              }),
            )
            .describe('The inboxes of the tenant'),
        }),
      ),
    },
  }),
  change: route({
    auth: 'endUser',
    endUserScope: 'profile:write',
    scope: 'write',
    tags,
    method: 'patch',
    path: `${base}/me`,
    operationId: 'tenants.updatePortalUser',
    reaches: 'nothing',
    audit: false,
    stores: 'body',
    tenant: 'path',
    mcp: false,
    summary: 'Change your own name',
    description: 'Changes the name of the user of the token.',
    request: {
      params,
      body: json(z.strictObject({ display_name: displayText.describe('The name that people see.') })),
    },
    responses: {
      200: json(
        z.strictObject({
          display_name: z.string().describe('The name that people see.'),
          version: z.int().describe('Grows with every change; the ETag is made from it.'),
        }),
      ),
    },
    problems: ['tenants.user_not_found'],
  }),
};

const shown = ({ token, expires_at }: SignedIn) => ({
  access_token: token,
  token_type: 'Bearer' as const,
  expires_at,
});

export function createPortalRoutes(deps: Service & { portal: PortalDeps }) {
  const cookies = createCookies(deps.portal.publicUrl);

  return [
    endpoint(routes.portal, async c => {
      const { portal } = await enterPortal(deps, c.req.valid('param').tenant_id);
      return c.json(portal, 200);
    }),
    endpoint(routes.request, async c => {
      cookies.checkOrigin(c);
      const request = { ...c.req.valid('json'), address: c.get('address') };
      return c.json(await requestSignIn(deps, c.req.valid('param').tenant_id, request), 202);
    }),
    endpoint(routes.signIn, async c => {
      cookies.checkOrigin(c);
      const { tenant_id } = c.req.valid('param');
      const signedIn = await finishSignIn(deps, tenant_id, c.req.valid('json'), c.req.header('user-agent'));
      cookies.set(c, tenant_id, signedIn.cookie, signedIn.cookieS);
      return c.json(shown(signedIn), 201);
    }),
    endpoint(routes.join, async c => {
      cookies.checkOrigin(c);
      const { tenant_id } = c.req.valid('param');
      const body = c.req.valid('json');
      // The invitation of another tenant is none here, and stays good there.
      if (!body.token.startsWith(`${tenant_id}.`)) throw noInvitationHere();
      const { portal } = await enterPortal(deps, tenant_id);
      // Where only the tenant's provider signs people in, no mail does.
      if (!portal.sign_in) throw noTenant();
      const { user, invitation, account_id } = await acceptInvitation(deps, body);
      await recordLine(deps, c, account_id, {
        via: 'invitation',
        credentialId: invitation.invitation_id,
        action: routes.join.operationId,
        target: `/v1/tenants/${tenant_id}/users/${encodeURIComponent(user.user_id)}`,
      });
      const signedIn = await startJoined(deps, user, c.req.header('user-agent'));
      cookies.set(c, tenant_id, signedIn.cookie, signedIn.cookieS);
      return c.json(shown(signedIn), 201);
    }),
    endpoint(routes.refresh, async c => {
      cookies.checkOrigin(c);
      const { tenant_id } = c.req.valid('param');
      const cookie = cookies.read(c) ?? '';
      const signedIn = await refreshSession(deps, tenant_id, cookie);
      cookies.set(c, tenant_id, signedIn.cookie, signedIn.cookieS);
      return c.json(shown(signedIn), 200);
    }),
    endpoint(routes.signOut, async c => {
      cookies.checkOrigin(c);
      const { tenant_id } = c.req.valid('param');
      await signOut(deps, tenant_id, cookies.read(c) ?? '');
      cookies.clear(c, tenant_id);
      return c.body(null, 204);
    }),
    endpoint(routes.me, async c => {
      const principal = c.get('principal');
      const entered = enteredTenant(c);
      const { tenant_id } = entered;
      const [{ portal }, found, inboxes] = await Promise.all([
        readPortal(deps, entered),
        deps.store.get(userEntity, { tenant_id, user_id: principal.userId }, { consistent: true }),
        deps.portal.listInboxes(tenant_id),
      ]);
      return c.json(
        {
          portal,
          user_id: principal.userId,
          user: found
            ? {
                display_name: found.display_name,
                ...(found.email !== undefined && { email: found.email }),
                role: found.role,
                version: found.version,
              }
            : null,
          scope: principal.scope,
          inboxes: inboxes.slice(0, limits.portalInboxes),
        },
        200,
      );
    }),
    endpoint(routes.change, async c => {
      const principal = c.get('principal');
      const { tenant_id } = c.req.valid('param');
      const { display_name, version } = await patchUser(
        deps,
        tenant_id,
        principal.userId,
        c.req.valid('json'),
        undefined,
      );
      return c.json({ display_name, version }, 200);
    }),
  ] as const;
}

// They may have been removed since they accepted.
async function startJoined(deps: Deps, { tenant_id, user_id, role }: User, userAgent: string | undefined) {
  const isThere = write.check(userEntity, { tenant_id, user_id }, { present: true });
  try {
    return await startSession(deps, { tenant_id, user_id, role }, userAgent, [['the user', isThere]]);
  } catch (error) {
    throw failedCondition(error)?.step === 'the user' ? noInvitationHere() : error;
  }
}

const noInvitationHere = () =>
  tenantErrors.create('tenants.invitation_not_found', 'Invitation not found, or it has expired.');
