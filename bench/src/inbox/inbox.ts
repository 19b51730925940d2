import { createEngine } from '@stak/engine';
import { createInbox, inboxTable } from '@stak/inbox';
import { createIds, createLogger, systemClock } from '@stak/kit';
import { createLedger, createStore, createTables, type DynamoClient } from '@stak/table';

export const tableName = inboxTable.name;
export const inboxId = { tenant_key: 'bench', inbox_key: 'main' };
export const userOf = (uid: string) => ({ ...inboxId, uid });
export const everything = { archived: false, snoozed: false };
export const origin = { sender: 'bench' };

// About half a kilobyte.
export const draft = (title = 'Your invoice is ready') => ({
  message: { title, body: `It is due on Friday. ${'Please have a look. '.repeat(12)}`.trim() },
  taxonomy: { category: 'billing' },
});

export type OpenInbox = Awaited<ReturnType<typeof openInbox>>;

// The service without its HTTP side, on its own engine. `watch` observes every call to the engine.
export async function openInbox(path: string, watch: (client: DynamoClient) => DynamoClient = same) {
  const engine = await createEngine({ path });
  await createTables(engine, [inboxTable]);
  const ledger = createLedger();
  const clock = systemClock;
  const inbox = createInbox({
    store: createStore({ client: watch(engine.client), ledger }),
    clock,
    ids: createIds({ clock }),
    log: createLogger({ level: 'silent' }),
  });
  const { operations } = inbox;
  await operations.ensureInbox(inboxId, { title: 'Main' });
  return { client: engine.client, ledger, ...operations, close: () => engine.close() };
}

const same = (client: DynamoClient): DynamoClient => client;

export const ownMessages = (uid: string) =>
  messagesIn(`t#${inboxId.tenant_key}U#${uid}#${inboxId.inbox_key}`);
export const publicMessages = messagesIn(`t#${inboxId.tenant_key}G#$public#${inboxId.inbox_key}`);

// The newest messages of a partition, read directly without the service.
function messagesIn(pk: string) {
  return (limit: number) => ({
    TableName: tableName,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :messages)',
    ExpressionAttributeValues: { ':pk': pk, ':messages': 'm#' },
    ScanIndexForward: false,
    ConsistentRead: true,
    Limit: limit,
  });
}

export const stateKey = (uid: string) => ({
  pk: `t#${inboxId.tenant_key}U#${uid}#${inboxId.inbox_key}`,
  sk: 'c#*',
});
