import { isStored, type RouteSpec } from '@stak/http';
import { createLogger } from '@stak/kit';
import { manageScope } from '@stak/tenants';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mountPages } from '../src/cli/server/pages.ts';
import { endpointsOf } from '../src/compose/compose.ts';
import { describeServices } from '../src/compose/document.ts';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';

// What every operation of the server declares about itself, and what has to be true of all of them. What each of them
// reaches and audits is reviewed in reaches.test.ts and audited.test.ts.

const services = describeServices();
const routes = endpointsOf(services).map(({ route }) => route);
const named = ({ operationId = '' }: RouteSpec) => operationId;
const namesWhere = (isSo: (route: RouteSpec) => boolean) => routes.filter(isSo).map(named).toSorted();
const isWrite = ({ method }: RouteSpec) => method !== 'get';
const hasCaller = ({ auth }: RouteSpec) => auth !== 'public' && auth !== 'provider';

it.each(routes.map(route => [named(route), route] as const))('%s says everything', (_, route) => {
  const { reaches, audit, stores, tenant, mcp, operationId } = route;
  for (const answer of [reaches, audit, stores, tenant, mcp, operationId]) expect(answer).toBeDefined();
});

describe('what an operation stores', () => {
  it('is admitted for everything that writes for an account, unless it says why not', () => {
    const excused: unknown[] = ['deletes', 'access', 'nothing'];
    expect(
      namesWhere(one => isWrite(one) && hasCaller(one) && !isStored(one) && !excused.includes(one.stores)),
    ).toEqual([]);
    expect(namesWhere(one => isWrite(one) && hasCaller(one) && one.stores === 'nothing')).toEqual([
      'accounts.download', // writes the archive to the caller
      'accounts.readAppRequest',
      'webhooks.tryRules',
      'webhooks.whatIf',
    ]);
  });

  it('is always allowed only where an account is kept reachable and safe, grows, or stops a cost', () => {
    expect(namesWhere(one => hasCaller(one) && one.stores === 'access')).toEqual([
      'accounts.acceptInvitation',
      'accounts.addPasskey',
      'accounts.beginAuthenticator',
      'accounts.beginPasskey',
      'accounts.beginPasskeyStepUp',
      'accounts.changeEmail',
      'accounts.changeMemberRole',
      'accounts.changePassword',
      'accounts.confirmAuthenticator',
      'accounts.confirmEmail',
      'accounts.deleteMe',
      'accounts.leaveOrganisation',
      'accounts.logOut',
      'accounts.mintInboxToken',
      'accounts.openBillingPortal',
      'accounts.removeAuthenticator',
      'accounts.removePasskey',
      'accounts.renewRecoveryCodes',
      'accounts.sendVerification',
      'accounts.startCheckout',
      'accounts.stepUp',
      'accounts.transferOwnership',
      'accounts.verifyEmail',
      'agents.cancelAnswer',
      'agents.cancelResponse',
    ]);
  });

  it('frees storage only by DELETE, and where it is named', () => {
    expect(namesWhere(one => one.stores === 'deletes' && one.method !== 'delete')).toEqual([
      'tasks.clearCompleted',
    ]);
    expect(namesWhere(one => one.method === 'delete' && one.stores !== 'deletes')).toEqual([
      'inbox.markUnread', // a mark that is taken back is written like any other
      'inbox.unarchive',
      'inbox.unsnooze',
      'tenants.signOut',
    ]);
  });

  it('is asked for by the handlers of webhooks only', () => {
    expect(namesWhere(one => one.stores === 'handler')).toEqual(['agents.takeWebhook', 'webhooks.receive']);
  });

  it('has the errors of a full account, and of no other operation', () => {
    const { guards } = services;
    const isLimited = (one: RouteSpec) => guards.problemsOf(one).includes('accounts.storage_limit_reached');
    expect(routes.filter(one => isLimited(one) !== isStored(one)).map(named)).toEqual([]);
  });
});

describe('the tenant of an operation', () => {
  it('is entered wherever it is in the path of somebody who is known, but where it may be gone', () => {
    const isChecked = ({ path, tenant }: RouteSpec) => path.includes('{tenant_id}') && tenant === 'handler';
    expect(namesWhere(one => isChecked(one) && hasCaller(one))).toEqual([
      'tenants.delete',
      'tenants.getErasure',
    ]);
  });

  it('stays open while it is suspended for what its account needs then', () => {
    expect(namesWhere(one => one.tenant === 'path-suspended-too')).toEqual([
      'tenants.eraseUser',
      'tenants.exportUser',
      'tenants.get',
      'tenants.getSettings',
      'tenants.revokeTokens',
      'tenants.update',
    ]);
  });

  // Entering is what checks that somebody is an admin of the tenant.
  it('is entered by all who manage it', () => {
    expect(namesWhere(one => one.endUserScope === manageScope && !one.tenant.startsWith('path'))).toEqual([]);
  });

  it('is the server’s own in mailboxes only, and where callers work on what is their own', () => {
    const ours = routes.filter(({ tenant }) => tenant === 'path-or-server' || tenant === 'caller');
    for (const route of ours) expect(named(route)).toMatch(/^((inbox|tasks|lake|insights)\.|system\.why$)/);
    for (const { path } of routes.filter(({ tenant }) => tenant === 'path-or-server'))
      expect(path).toContain('/users/{uid}');
  });

  it('is none where every key may call', () => {
    expect(namesWhere(one => one.tenant === 'any-key')).toEqual(['accounts.whoAmI']);
  });
});

// None of them reads or changes what an account has stored, unless a route does it with the credential of its caller.
it('what is served beside the routes is reviewed one by one', async () => {
  const config = readServerConfig({ port: 0, memory: true, demo: true }, { STAK_LAKE: 'off' });
  const server = await startServer(config, {
    log: createLogger({ level: 'silent' }),
    extend: (api, services) => mountPages(api, services, { ...config, demoFolder: import.meta.dirname }),
  });
  onTestFinished(async () => void (await server.stop()));
  const mounted = server.mounted.map(
    ({ method, path }) => `${method} ${path.replace(/[\d.]+(?=\.js)/, '*')}`,
  );
  expect(mounted.toSorted()).toEqual([
    'all /mcp', // its messages are answered by routes
    'get /',
    'get /console/*',
    'get /console/demo.json', // to callers on this machine
    'get /console/server.json',
    'get /docs',
    'get /docs/*',
    'get /docs/api',
    'get /docs/scalar-*.js',
    'get /docs/start.js',
    'get /portal/:tenant_id/*', // with the looks that the tenant shows to everybody
    'get /portal/assets/*',
    'post /console/demo/session', // signs in by a route
    'post /demo/books', // takes everything and stores nothing
  ]);
});

describe('MCP tools', () => {
  it('are neither keys, nor erasure, nor streams', () => {
    const tools = routes.filter(({ mcp }) => mcp === 'reads' || mcp === 'writes');
    expect(tools.length).toBeGreaterThan(30);
    for (const { operationId, method, path, responses } of tools) {
      expect(operationId).not.toMatch(/key|billing|erase|delete|password/i);
      expect([method, path]).not.toContain('delete');
      expect(
        JSON.stringify(Object.keys((responses[200] as { content?: object })?.content ?? {})),
      ).not.toMatch(/^\["text\/event/);
    }
  });

  it('watch lists that are tools, with a stream that needs the same rights', () => {
    const streams = routes.filter(({ mcp }) => typeof mcp === 'object');
    expect(streams.map(named).toSorted()).toEqual(['inbox.stream', 'tasks.events', 'webhooks.tailEvents']);
    for (const { mcp, auth, scope, endUserScope, responses } of streams) {
      const watched = typeof mcp === 'object' ? mcp.watches : '';
      const list = routes.find(({ method, path }) => method === 'get' && path === watched)!;
      expect(list).toMatchObject({ mcp: 'reads', auth, scope });
      expect(list.endUserScope).toBe(endUserScope);
      expect(Object.keys((responses[200] as { content: object }).content)).toEqual(['text/event-stream']);
    }
  });

  it('that only read say so', () => {
    expect(namesWhere(one => one.method === 'get' && one.mcp === 'writes')).toEqual([]);
    expect(namesWhere(one => isWrite(one) && one.mcp === 'reads')).toEqual(['lake.query']);
  });
});
