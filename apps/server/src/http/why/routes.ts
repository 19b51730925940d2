import {
  type AccountPrincipal,
  type EndUserPrincipal,
  endpoint,
  httpErrors,
  json,
  nameSchemas,
  readsOnly,
  route,
} from '@stak/http';
import {
  type Asker,
  type Findings,
  type Ref,
  readCause,
  readRef,
  refOfCause,
  refText,
  type Thing,
} from '@stak/kit';
import { z } from 'zod';
import * as limits from './limits.ts';
import { type Branch, explain, type Node } from './walk.ts';

type Caller = AccountPrincipal | EndUserPrincipal;

export type WhyDeps = {
  findings: Findings;
  accountOfUser(user: EndUserPrincipal): Promise<string | undefined>;
  accountOfTenant(tenantId: string): Promise<string | undefined>;
  ownTenant: string; // accounts are its users
  userIdOf(caller: Caller): string; // of tasks
};

const id = z.string().describe('Identifies it, here and in `stak why`.');
const nodeSchema = z.strictObject({
  id: id.nullable(),
  kind: z.string().describe('What it is, such as `event` or `task`; `gap` for what you cannot see.'),
  at: z.iso.datetime().nullable().describe('When it happened.'),
  what: z.string().describe('What it is, in a few words.'),
  by: z.string().nullable().describe('Who did it, if that is known.'),
  decided: z.string().nullable().describe('What was decided, and by which rule.'),
  hidden: z
    .int()
    .describe('Of a gap: how many things it stands for. Else: how many followed that you cannot see.'),
});
const followedSchema = nodeSchema.extend({ because_of: id }).strict();
const answerSchema = z.strictObject({
  root: nodeSchema.describe('The first cause, as far as it is stored.'),
  chain: z.array(nodeSchema).describe('From the root to the thing itself.'),
  followed: z.array(followedSchema).describe('What followed, each after the thing that caused it.'),
  has_more: z.boolean().describe('More has followed than is listed.'),
});
nameSchemas({ WhyNode: nodeSchema, WhyFollowed: followedSchema });

const read = route({
  ...readsOnly,
  path: '/v1/why/{id}',
  operationId: 'system.why',
  auth: 'user',
  tenant: 'caller',
  scope: 'read',
  endUserScope: 'any',
  mcp: 'reads',
  tags: ['system'],
  summary: 'Explain why something happened, and what followed',
  description:
    'Takes the id of an event, of one of your tasks, or one that an answer has. Users of tenants see what is theirs; the rest is a gap with a number.',
  request: {
    params: z.strictObject({
      id: z.string().min(1).max(limits.idChars).describe('What to explain, such as `evt_…` or `tsk_…`.'),
    }),
  },
  responses: { 200: json(answerSchema) },
});

const nothing = () => httpErrors.create('http.not_found', 'There is nothing with this id.');

export const whyEndpoint = (deps: WhyDeps) =>
  endpoint(read, async c => {
    const caller = c.get('principal');
    const asker = await askerOf(deps, caller);
    const start = asker && startOf(deps, caller, asker, c.req.valid('param').id);
    if (!start) throw nothing();
    const seen = (thing: Thing) => seenBy(deps, caller, asker, thing);
    const why = await explain({ findings: deps.findings, asker, seen }, start);
    if (!why) throw nothing();
    const chain = why.chain.map(showNode);
    const last = chain.at(-1)!;
    chain[chain.length - 1] = { ...last, hidden: why.hidden };
    return c.json(
      { root: chain[0]!, chain, followed: why.followed.map(showBranch), has_more: why.hasMore },
      200,
    );
  });

async function askerOf(deps: WhyDeps, caller: Caller): Promise<Asker | undefined> {
  if (caller.kind === 'account') {
    const { accountId, scope, userId = accountId } = caller;
    return { accountId, ...(scope === 'admin' && { auditor: userId }) };
  }
  const accountId = await deps.accountOfUser(caller);
  return accountId === undefined ? undefined : { accountId, userId: caller.userId };
}

// An id of ours, which says what it is, or one that an answer had. Kinds of our own that stand for others are no ids.
const kinds = new Set(
  'event delivery attempt alert job task reminder message chat turn call approval request'.split(' '),
);

function startOf(deps: WhyDeps, caller: Caller, { accountId }: Asker, text: string): Ref | undefined {
  const cause = readCause(text);
  if (cause?.kind === 'task') return { kind: 'task', parts: [deps.userIdOf(caller), text] };
  if (cause) return refOfCause(text, accountId);
  const named = readRef(text);
  return named && kinds.has(named.kind) ? named : undefined;
}

async function seenBy(deps: WhyDeps, caller: Caller, { accountId }: Asker, { owner, scope }: Thing) {
  const { account, tenant, users = [] } = owner;
  if (tenant === deps.ownTenant) {
    // Each account is a user of this tenant.
    if (!users.includes(accountId)) return 'other';
    return caller.kind === 'account' || caller.tenantId === tenant ? 'yes' : 'hidden';
  }
  const owning = account ?? (tenant === undefined ? undefined : await deps.accountOfTenant(tenant));
  if (owning !== accountId) return 'other';
  if (caller.kind === 'account') return 'yes';
  if (tenant === undefined || caller.tenantId !== tenant) return 'hidden';
  const mayRead = scope !== undefined && holds(caller.scope, scope);
  return mayRead && users.includes(caller.userId) ? 'yes' : 'hidden';
}

// Tokens from before scopes had a service contain one word, which is valid for every service.
const holds = (held: string, needed: string): boolean =>
  held.split(' ').some(name => name === needed || ['read', 'write', 'admin'].includes(name));

const showNode = ({ thing, missing, hidden }: Node): z.output<typeof nodeSchema> => {
  if (thing) return { ...shown(thing), hidden };
  const gone = { at: null, by: null, decided: null };
  if (!missing) return { id: null, kind: 'gap', what: 'not yours to see', ...gone, hidden };
  return { ...nameOf(missing), what: 'not stored any more', ...gone, hidden: 0 };
};

// Kinds that stand for others begin with the id of the cause.
function nameOf({ kind, parts }: Ref): { id: string; kind: string } {
  if (kinds.has(kind)) return { id: refText({ kind, parts }), kind };
  const [id = ''] = parts;
  return { id, kind: readCause(id)?.kind ?? 'gap' };
}

const showBranch = ({ thing, parent, hidden }: Branch) => ({
  ...shown(thing),
  hidden,
  because_of: parent,
});

const shown = ({ ref, at, what, by, decided }: Thing) => ({
  id: refText(ref),
  kind: ref.kind,
  at: at === undefined ? null : new Date(at).toISOString(),
  what,
  by: by ?? null,
  decided: decided ?? null,
});
