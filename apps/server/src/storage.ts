import {
  accountOwners,
  type ServiceOwners,
  type Storage,
  type StorageNotice,
  sizeText,
} from '@stak/accounts';
import { agentOwners, conversationsTable, tenantsWithMemory } from '@stak/agents';
import type { AnyEndpoint, Principal } from '@stak/http';
import { inboxOwners, inboxTable } from '@stak/inbox';
import { taskOwners, todoAppData } from '@stak/tasks';
import { tenantOwners } from '@stak/tenants';
import { ferryhookEvents, ferryhookMain, webhookOwners } from '@stak/webhooks';

// The tables whose bytes count, with the owner of each entity. A new entity must be in its service's list: otherwise
// the server does not start.
export const countedTables = [
  ferryhookMain,
  ferryhookEvents,
  tenantsWithMemory,
  inboxTable,
  conversationsTable,
  todoAppData,
] as const;

export type OwnerKind = 'account' | 'tenant' | 'source' | 'connection';
export const ownersOfServices: readonly ServiceOwners<OwnerKind>[] = [
  { service: 'accounts', owners: accountOwners },
  { service: 'webhooks', owners: webhookOwners },
  { service: 'tenants', owners: tenantOwners },
  { service: 'inbox', owners: inboxOwners },
  { service: 'agents', owners: agentOwners },
  { service: 'tasks', owners: taskOwners },
];

const leastBytes = 1000; // what a request adds at least, with keys, indexes and a line in some log
const copyBytes = 1500; // of a message's copy, if its body is stored once for all
const sharedFrom = 64 * 1024; // what storing it once must save, or each copy has it
const smallEdit = 1000; // an edit that finishes, moves or renames a task

// Every request that may write is limited, unless it is in one of these lists: a new operation is limited until
// somebody has thought about it.

// Requests that keep no more than before: allowed when the storage is full, as long as not too much is written in a day.
export const edits: ReadonlySet<string> = new Set([
  'accounts.updateMe',
  'accounts.renameOrganisation',
  'accounts.renamePasskey',
  'accounts.testOrganisationProvider',
  'tenants.update',
  'inbox.writeSettings',
  'inbox.writeInbox',
  'inbox.markRead',
  'inbox.archive',
  'inbox.snooze',
  'inbox.readMany',
  'inbox.seeMany',
  'inbox.unreadMany',
  'inbox.archiveMany',
  'webhooks.editSource',
  'webhooks.editConnection',
  'webhooks.rotateSecret',
  'webhooks.rotateAlertSecret',
  'webhooks.testConnection',
  'webhooks.cancelEvent',
  'webhooks.cancelJob',
  'tasks.restore',
  'tasks.move',
  'tasks.replaceFeed',
  'agents.changeMemorySettings',
  'agents.decideApproval',
]);

// Requests that are always allowed: they only read, free storage, keep an account safe, or buy a larger plan.
export const unlimited: ReadonlySet<string> = new Set([
  'accounts.logOut',
  'accounts.leaveOrganisation',
  'accounts.acceptInvitation',
  'accounts.changeMemberRole',
  'accounts.transferOwnership',
  'accounts.deleteMe',
  'accounts.download',
  'accounts.mintInboxToken',
  'accounts.changePassword',
  'accounts.changeEmail',
  'accounts.confirmEmail',
  'accounts.sendVerification',
  'accounts.verifyEmail',
  'accounts.beginAuthenticator',
  'accounts.confirmAuthenticator',
  'accounts.removeAuthenticator',
  'accounts.renewRecoveryCodes',
  'accounts.stepUp',
  'accounts.beginPasskeyStepUp',
  'accounts.beginPasskey',
  'accounts.addPasskey',
  'accounts.removePasskey',
  'accounts.readAppRequest',
  'accounts.startCheckout',
  'accounts.openBillingPortal',
  'webhooks.tryRules',
  'tasks.clearCompleted',
]);

// Requests that store only a record of themselves, such as a line in the audit trail. Reads with such a line are others.
// A full account has some of them each day: they may be repeated without end, by any number of its users.
export const lines: ReadonlySet<string> = new Set([
  'accounts.switchOrganisation',
  'tenants.eraseUser',
  'tenants.mintToken',
  'tenants.revokeTokens',
  'lake.query',
  'lake.export',
]);

type Recipients = { uids?: readonly string[] };

// How much a request stores, if that differs from what it sends. 0: it is an edit.
const estimates: Readonly<Record<string, (bytes: number, body: never) => number>> = {
  'inbox.publish': (bytes, body: Recipients) => messageBytes(bytes, body),
  'inbox.bulk': (_, { messages }: { messages: readonly Recipients[] }) =>
    messages.reduce((sum, one) => sum + messageBytes(jsonBytes(one), one), 0),
  'tasks.update': bytes => (bytes <= smallEdit ? 0 : bytes),
  'tasks.bulk': (_, { items }: { items: readonly { set?: object }[] }) => {
    const bytes = items.map(({ set }) => (set ? jsonBytes(set) : 0));
    return bytes.every(one => one <= smallEdit) ? 0 : bytes.reduce((sum, one) => sum + one, 0);
  },
};

const messageBytes = (bytes: number, { uids = [] }: Recipients): number =>
  bytes * uids.length >= sharedFrom + bytes
    ? bytes + uids.length * copyBytes
    : uids.length * (bytes + copyBytes);

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

type Context = {
  get(name: 'principal'): Principal;
  get(name: 'body'): Uint8Array | undefined;
  req: { valid(part: 'json'): unknown; header(name: string): string | undefined };
};
type Handle = (c: Context) => Promise<Response>;
type Guard = {
  storage: Pick<Storage, 'admit' | 'admitEdit' | 'admitLine' | 'charge'>;
  accountOf(tenantId: string): Promise<string | undefined>;
};

const isRead = (method: string): boolean => ['get', 'head', 'options', 'delete'].includes(method);
const hasCaller = (auth: string): boolean => !['public', 'provider'].includes(auth);

// Deleting leaves no more lines than creating did.
const isLine = ({ method, audit, operationId = '' }: AnyEndpoint['route']): boolean =>
  lines.has(operationId) || (isRead(method) && method !== 'delete' && audit !== false);

// Public requests have no account; webhooks and channels ask for room themselves.
export const isGuarded = (route: AnyEndpoint['route']): boolean =>
  hasCaller(route.auth) &&
  (isLine(route) || (!isRead(route.method) && !unlimited.has(route.operationId ?? '')));

// Wraps a service so that requests that write are allowed while there is room for them.
export const withStorageLimit = <S extends { api: readonly AnyEndpoint[] }>(guard: Guard, service: S) => ({
  ...service,
  api: service.api.map(one => (isGuarded(one.route) ? guarded(guard, one) : one)),
});

function guarded({ storage, accountOf }: Guard, one: AnyEndpoint): AnyEndpoint {
  const { route } = one;
  const handle = one.handler as unknown as Handle;
  const name = route.operationId ?? '';
  const estimate = estimates[name];
  const handler: Handle = async c => {
    const principal = c.get('principal');
    const isOwner = principal.kind === 'account';
    const accountId = isOwner ? principal.accountId : await payerOf(accountOf, principal);
    if (accountId === undefined) return handle(c);
    if (isLine(route)) {
      await storage.admitLine(accountId, isOwner);
      return handle(c);
    }
    const sent = c.get('body')?.length ?? 0;
    const bytes = estimate ? estimate(sent, c.req.valid('json') as never) : sent;
    if (edits.has(name) || (estimate && bytes === 0)) {
      if (route.audit !== false) await storage.admitLine(accountId, isOwner);
      await storage.admitEdit(accountId, sent + leastBytes, isOwner);
    } else await storage.admit(accountId, bytes + leastBytes, isOwner);
    const response = await handle(c);
    // The answer is stored for a day, for a repeated request.
    if (route.idempotent && c.req.header('idempotency-key') !== undefined)
      await storage.charge(accountId, (await response.clone().arrayBuffer()).byteLength);
    return response;
  };
  const problems = [
    ...(route.problems ?? []),
    'accounts.storage_limit_reached',
    'accounts.request_exceeds_storage',
  ];
  return { ...one, route: { ...route, problems }, handler: handler as unknown as AnyEndpoint['handler'] };
}

const payerOf = async (accountOf: Guard['accountOf'], principal: Principal): Promise<string | undefined> =>
  principal.kind === 'endUser' ? accountOf(principal.tenantId) : undefined;

export const noticeOf = ({ percent, usedBytes, limitBytes, plan }: StorageNotice) =>
  percent >= 100
    ? {
        title: 'Your storage is full',
        body: `You use ${sizeText(usedBytes)} of the ${sizeText(limitBytes)} that the plan "${plan}" keeps. Nothing new is stored until you delete something or choose a larger plan; what is stored can be read and is delivered.`,
      }
    : {
        title: `${percent} % of your storage is used`,
        body: `You use ${sizeText(usedBytes)} of the ${sizeText(limitBytes)} that the plan "${plan}" keeps. When it is full, nothing new is stored.`,
      };
