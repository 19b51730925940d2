import { type Client, iterate } from '@stak/client';
import { UsageError } from '../../config/errors.ts';
import { readCount, readList, readMoment, readOptional, readText } from '../../config/flags.ts';
import type { FlagsOf } from '../action.ts';
import { connect } from '../connection.ts';
import { follow } from '../follow.ts';
import { printJson, printTable, takeFirst, timeText } from '../print.ts';
import type { options } from './inbox.ts';

type Flags = FlagsOf<typeof options>;

export const actions = { send, broadcast, list, read, tail, redact, receipts, delete: deleteInbox };

const shownMessages = 20;

const inboxOf = (flags: Flags) => ({
  tenant_id: readText('--tenant', flags.tenant),
  inbox_key: readText('--inbox', flags.inbox),
});
const userOf = (flags: Flags) => ({ ...inboxOf(flags), uid: readText('--user', flags.user) });

async function send(flags: Flags): Promise<void> {
  const inboxId = inboxOf(flags);
  const body = { uids: readList('--to', flags.to), ...draftOf(flags) };
  const { client } = await connect(flags);
  printSent((await client.inbox.publish({ ...inboxId, body })).data);
}

async function broadcast(flags: Flags): Promise<void> {
  const inboxId = inboxOf(flags);
  const body = draftOf(flags);
  const { client } = await connect(flags);
  printSent((await client.inbox.broadcast({ ...inboxId, body })).data);
}

function draftOf(flags: Flags) {
  const category = readOptional('--category', flags.category);
  const at = readMoment('--at', flags.at);
  return {
    message: { title: readText('--title', flags.title), body: bodyOf(flags) },
    ttl: readOptional('--ttl', flags.ttl),
    host_system_id: readOptional('--host-id', flags.hostId),
    ...(category !== undefined && { taxonomy: { category } }),
    ...(at && { send_at: Math.ceil(at.getTime() / 1000) }),
  };
}

function bodyOf({ body, data }: Flags): unknown {
  if (data === undefined) return body === undefined ? '' : readText('--body', body);
  if (body !== undefined) throw new UsageError('choose either --body or --data');
  try {
    return JSON.parse(readText('--data', data));
  } catch {
    throw new UsageError('--data needs JSON, like \'{"amount": 5}\'');
  }
}

function printSent({ id, status }: { id: string; status: string }): void {
  console.error(status === 'sent' ? 'It is sent:' : `It is ${status}:`);
  console.log(id);
}

async function list(flags: Flags): Promise<void> {
  if (flags.inbox === undefined) return listInboxes(flags);
  return flags.user === undefined ? listSends(flags) : listFeed(flags);
}

async function listInboxes(flags: Flags): Promise<void> {
  const tenant_id = readText('--tenant', flags.tenant);
  const { client } = await connect(flags);
  const { data } = await client.inbox.listInboxes({ tenant_id });
  if (flags.json) return printJson(data.data);
  const rows = data.data.map(inbox => [inbox.inbox_key, inbox.title, inbox.description ?? '']);
  printTable(
    [['inbox', 'title', 'description'], ...rows],
    'There are no inboxes yet; one is made with PUT /v1/tenants/{id}/inboxes/{key}',
  );
}

async function listSends(flags: Flags): Promise<void> {
  const inboxId = inboxOf(flags);
  const most = readCount('--limit', flags.limit, shownMessages);
  const { client } = await connect(flags);
  const sends = await takeFirst(iterate(client.inbox.listSends, inboxId), most);
  if (flags.json) return printJson(sends);
  const rows = sends.map(send => [
    send.id,
    timeText(send.received * 1000),
    send.audiences.kind === 'everyone' ? 'everyone' : `${send.recipients}`,
    send.status,
    `${send.delivered}`,
    `${send.read}`,
    send.title ?? '',
  ]);
  printTable(
    [['id', 'sent', 'to', 'status', 'delivered', 'read', 'title'], ...rows],
    'Nothing was sent yet: stak inbox send',
  );
}

type Message = Awaited<ReturnType<Client['inbox']['feed']>>['data']['data'][number];

const rowOf = (message: Message): string[] => [
  message.id,
  timeText(message.received * 1000),
  message.read ? 'read' : 'unread',
  message.taxonomy?.category ?? '',
  message.message.title,
];

async function listFeed(flags: Flags): Promise<void> {
  const user = userOf(flags);
  const most = readCount('--limit', flags.limit, shownMessages);
  const category = readOptional('--category', flags.category);
  const filter = { category, read: flags.unread ? ('false' as const) : undefined };
  const { client } = await connect(flags);
  const messages = await takeFirst(iterate(client.inbox.feed, { ...user, ...filter }), most);
  if (flags.json) return printJson(messages);
  printTable(
    [['id', 'received', 'state', 'category', 'title'], ...messages.map(rowOf)],
    'There are no messages.',
  );
}

async function read(flags: Flags, id: string | undefined): Promise<void> {
  const user = userOf(flags);
  if (id === undefined) {
    if (!flags.all) throw new UsageError('which message? see stak inbox list, or use --all');
    const category = readOptional('--category', flags.category);
    const { client } = await connect(flags);
    const { data } = await client.inbox.readMany({ ...user, body: { category } });
    return console.log(`${data.changed} marked as read`);
  }
  const { client } = await connect(flags);
  const { data } = await client.inbox.markRead({ ...user, id });
  printJson(data);
}

async function tail(flags: Flags): Promise<void> {
  const user = userOf(flags);
  const { client } = await connect(flags);
  console.error(`Following ${user.inbox_key} of ${user.uid}; stop with Ctrl-C`);
  await follow(
    signal => client.inbox.stream(user, { signal }),
    event => console.log(flags.json ? JSON.stringify(event) : lineOf(event)),
  );
}

// The name of an event determines the shape of its data.
function lineOf({ event, data }: { event: string; data: unknown }): string {
  if (event === 'message') return `message  ${rowOf(data as Message).join('  ')}`;
  if (event === 'redaction') return `redacted ${(data as { id: string }).id}`;
  if (event !== 'counts') return event;
  const { total, unread, unseen } = data as { total: number; unread: number; unseen: number };
  return `counts   ${total} in all, ${unread} unread, ${unseen} unseen`;
}

async function redact(flags: Flags, id: string | undefined): Promise<void> {
  const inboxId = inboxOf(flags);
  const host_system_id = readOptional('--host-id', flags.hostId);
  if ((id === undefined) === (host_system_id === undefined))
    throw new UsageError('which message? give its id (see stak inbox list), or --host-id');
  const { client } = await connect(flags);
  if (id !== undefined) await client.inbox.redact({ ...inboxId, id });
  else if (host_system_id !== undefined) await client.inbox.redactHostId({ ...inboxId, host_system_id });
  console.log('redacted for all recipients');
}

async function receipts(flags: Flags, id: string | undefined): Promise<void> {
  const inboxId = inboxOf(flags);
  if (id === undefined) throw new UsageError('which message? give its id (see stak inbox list)');
  const most = readCount('--limit', flags.limit, shownMessages);
  const filter = flags.unread ? { read: 'false' as const } : {};
  const { client } = await connect(flags);
  const rows = await takeFirst(iterate(client.inbox.listReceipts, { ...inboxId, id, ...filter }), most);
  if (flags.json) return printJson(rows);
  const lines = rows.map(row => [row.uid, row.readat === null ? 'unread' : timeText(row.readat * 1000)]);
  printTable([['user', 'read'], ...lines], 'Nobody has it.');
}

async function deleteInbox(flags: Flags): Promise<void> {
  const inboxId = inboxOf(flags);
  if (!flags.all)
    throw new UsageError(`everything in ${inboxId.inbox_key} would be deleted; confirm with --all`);
  const { client } = await connect(flags);
  await client.inbox.deleteInbox(inboxId);
  console.log(`${inboxId.inbox_key} is deleted; its contents are being erased`);
}
