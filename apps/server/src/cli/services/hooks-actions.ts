import { type Client, iterate } from '@stak/client';
import { UsageError } from '../../config/errors.ts';
import { readCount, readMoment, readOptional, readOptionalList } from '../../config/flags.ts';
import type { FlagsOf } from '../action.ts';
import { connect } from '../connection.ts';
import { follow } from '../follow.ts';
import { printJson, printTable, takeFirst, timeText } from '../print.ts';
import type { options } from './hooks.ts';
import { waitForJob } from './hooks-job.ts';
import { listen } from './hooks-listen.ts';
import { connections, findSource, sources } from './hooks-sources.ts';
import { whatif } from './hooks-whatif.ts';

export type HookFlags = FlagsOf<typeof options>;

export const actions = { sources, connections, events, replay, whatif, tail, listen };

type ListArgs = Parameters<Client['webhooks']['listEvents']>[0];
type Event = Awaited<ReturnType<Client['webhooks']['listEvents']>>['data']['data'][number];

const shownEvents = 20;

const filterOf = (flags: HookFlags) => ({
  // The server knows the valid values, and reports them.
  status: readOptional('--status', flags.status) as ListArgs['status'],
  from: readMoment('--from', flags.from)?.toISOString(),
  to: readMoment('--to', flags.to)?.toISOString(),
});

async function events(flags: HookFlags, eventId: string | undefined): Promise<void> {
  const filter = { ...filterOf(flags), q: readOptional('--text', flags.text) };
  const most = readCount('--limit', flags.limit, shownEvents);
  const { client } = await connect(flags);
  if (eventId !== undefined) return printJson((await client.webhooks.readEvent({ eventId })).data);
  const { sourceId } = await findSource(client, flags.source);
  const events = await takeFirst(iterate(client.webhooks.listEvents, { sourceId, ...filter }), most);
  if (flags.json) return printJson(events);
  printTable(
    [['id', 'received', 'status', 'method', 'bytes', 'type'], ...events.map(rowOf)],
    'No events found; stak hooks sources shows the address to send one to.',
  );
}

const rowOf = (event: Event): string[] => [
  event.eventId,
  timeText(event.receivedAt),
  event.status,
  event.method,
  `${event.size}`,
  event.contentType ?? '',
];

async function replay(flags: HookFlags, eventId: string | undefined): Promise<void> {
  const connectionIds = readOptionalList('--connection', flags.connection);
  const filter = filterOf(flags);
  if (eventId !== undefined) {
    const { client } = await connect(flags);
    const { data } = await client.webhooks.replayEvent({ eventId, body: { connectionIds } });
    return console.log(`${data.deliveries} deliveries are due`);
  }
  if (!flags.all && Object.values(filter).every(value => value === undefined))
    throw new UsageError('which events? give an id, or --source with --status, --from, --to or --all');
  const { client } = await connect(flags);
  const { sourceId } = await findSource(client, flags.source);
  const started = await client.webhooks.createJob({ sourceId, body: { connectionIds, ...filter } });
  await waitForJob(client, started.data);
}

async function tail(flags: HookFlags): Promise<void> {
  const { client } = await connect(flags);
  const { sourceId, name } = await findSource(client, flags.source);
  console.error(`Following ${name}; stop with Ctrl-C`);
  await follow(
    signal => client.webhooks.tailEvents({ sourceId }, { signal }),
    ({ data }) => console.log(flags.json ? JSON.stringify(data) : rowOf(data as Event).join('  ')),
  );
}
