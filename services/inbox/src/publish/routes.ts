import { causeHeaders, causeOf, json, type PrincipalOf, route } from '@stak/http';
import type { Ids } from '@stak/kit';
import type { Deps } from '../deps.ts';
import { inInbox } from '../deps.ts';
import type { InboxId } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import * as shapes from '../schema.ts';
import { type KeyedRequest, type NewMessage, type Published, publish, publishBulk } from './publish.ts';
import { countMembers, showSend } from './send-records.ts';

const tags = ['inbox'];
const common = {
  auth: 'account',
  tags,
  method: 'post',
  scope: 'write',
  idempotent: true,
  tenant: 'path',
} as const;
const inboxPath = '/v1/tenants/{tenant_id}/inboxes/{inbox_key}';
const publishLimits = { bodyBytes: limits.publishBytes };
const refusals = [
  'inbox.not_found',
  'inbox.body_invalid',
  'inbox.cta_uri_refused',
  'inbox.expiry_invalid',
  'inbox.schedule_invalid',
  'inbox.message_too_large',
  'inbox.host_system_id_taken',
  'inbox.category_being_deleted',
  'inbox.too_many_categories',
] as const;

type Recipients = { uids?: readonly string[] };

// Estimates what a message adds to the storage of its account: a copy for each recipient, with the body unless that is
// stored once for all.
const publishedBytes = (sentBytes: number, { uids = [] }: Recipients): number =>
  sentBytes * uids.length >= limits.savedBytes + sentBytes
    ? sentBytes + uids.length * limits.copyBytes
    : uids.length * (sentBytes + limits.copyBytes);

const bulkBytes = (_: number, { messages }: { messages: readonly Recipients[] }): number =>
  messages.reduce(
    (sum, message) => sum + publishedBytes(Buffer.byteLength(JSON.stringify(message)), message),
    0,
  );

const toUsers = route({
  ...common,
  path: `${inboxPath}/messages`,
  operationId: 'inbox.publish',
  reaches: 'nothing',
  audit: false,
  stores: publishedBytes,
  mcp: 'writes',
  summary: 'Publish a message to users',
  description:
    'Takes up to 10,000 uids. A short list is delivered before this returns; a longer one in the background, and `status` says how far it is.',
  request: { params: shapes.inboxParams, headers: causeHeaders, body: json(shapes.publishBody) },
  responses: {
    201: json(shapes.sendShape, 'Published'),
    200: json(shapes.sendShape, 'Published before, under the same host_system_id'),
    202: json(shapes.sendShape, 'Accepted, and will be delivered'),
  },
  problems: refusals,
  limits: publishLimits,
});

const toEveryone = route({
  ...common,
  path: `${inboxPath}/broadcasts`,
  operationId: 'inbox.broadcast',
  reaches: 'nothing',
  audit: false,
  stores: 'body',
  mcp: 'writes',
  summary: 'Publish a message to everyone',
  description: 'Sends a message to every user of the tenant, those who join later included.',
  request: { params: shapes.inboxParams, headers: causeHeaders, body: json(shapes.broadcastBody) },
  responses: {
    201: json(shapes.sendShape, 'Published'),
    200: json(shapes.sendShape, 'Published before, under the same host_system_id'),
    202: json(shapes.sendShape, 'Scheduled'),
  },
  problems: [...refusals, 'inbox.too_many_broadcasts'],
  limits: { bodyBytes: 300 * 1024 },
});

const bulk = route({
  ...common,
  path: `${inboxPath}/bulk`,
  operationId: 'inbox.bulk',
  reaches: 'nothing',
  audit: false,
  stores: bulkBytes,
  mcp: false,
  summary: 'Publish several messages',
  description:
    'Each message is published or refused on its own. The results have the same order as the messages.',
  request: { params: shapes.inboxParams, body: json(shapes.bulkBody) },
  responses: { 200: json(shapes.bulkShape) },
  problems: ['inbox.not_found'],
  limits: publishLimits,
});

const statusOf = ({ isNew, send: { status } }: Published) => (!isNew ? 200 : status === 'sent' ? 201 : 202);

type Called = {
  get(name: 'principal'): PrincipalOf<'account'>;
  get(name: 'idempotencyKey'): string | undefined;
  get(name: 'ids'): Ids;
  get(name: 'isRepeated'): boolean | undefined;
  get(name: 'requestId'): string;
  req: { header(name: string): string | undefined };
};
const originOf = (c: Called) => ({ sender: c.get('principal').accountId, cause: causeOf(c) });

// One for each message of a request with a key. All ids are drawn before anything can fail, so every attempt draws the same.
function requestsOf(c: Called, suffixes: readonly string[]): KeyedRequest[] | undefined {
  const key = c.get('idempotencyKey');
  if (key === undefined) return undefined;
  const isRepeated = c.get('isRepeated') === true;
  return suffixes.map(suffix => ({ key: key + suffix, id: c.get('ids').next(), isRepeated }));
}

export function createPublishRoutes(deps: Deps) {
  const publishAndShow = async (c: Called, inbox: InboxId, draft: NewMessage) => {
    const [request] = requestsOf(c, ['']) ?? [];
    const published = await publish(deps, inbox, draft, { ...originOf(c), ...(request && { request }) });
    const { send } = published;
    const members = send.audiences.kind === 'everyone' ? await countMembers(deps, inbox) : 0;
    return [showSend(send, members), statusOf(published)] as const;
  };

  return [
    inInbox(toUsers, async (c, inbox) => c.json(...(await publishAndShow(c, inbox, c.req.valid('json'))))),
    inInbox(toEveryone, async (c, inbox) => c.json(...(await publishAndShow(c, inbox, c.req.valid('json'))))),
    inInbox(bulk, async (c, inbox) => {
      const { messages } = c.req.valid('json');
      const requests = requestsOf(
        c,
        messages.map((_, i) => `.${i}`),
      );
      const results = await publishBulk(deps, inbox, messages, originOf(c), requests);
      const data = results.map(result =>
        result.ok ? { ok: true as const, send: showSend(result.published.send, 0) } : result,
      );
      return c.json({ data }, 200);
    }),
  ] as const;
}
