import { readFile } from 'node:fs/promises';
import type { Client } from '@stak/client';
import { UsageError } from '../../config/errors.ts';
import { readDurationMs, readMoment, readOptional, readText } from '../../config/flags.ts';
import { connect } from '../connection.ts';
import { note, printJson, printTable, timeText } from '../print.ts';
import type { HookFlags } from './hooks-actions.ts';
import { waitForJob } from './hooks-job.ts';
import { findSource } from './hooks-sources.ts';

type WhatIf = Client['webhooks']['whatIf'];
type Page = Awaited<ReturnType<WhatIf>>['data'];
type Rules = Pick<Parameters<WhatIf>[0]['body'], 'filters' | 'transform'>;

const results = ['sent', 'filtered', 'dropped', 'failed'] as const;
const replayedTogether = 100; // events that a job takes by id

/** Runs the events of a source through other rules, and shows which of them would be sent otherwise. */
export async function whatif(flags: HookFlags): Promise<void> {
  const rules = await readRules(readText('--rules', flags.rules));
  const connectionId = readOptional('--connection', flags.connection);
  if ((flags.save || flags.replay) && connectionId === undefined)
    throw new UsageError('--save and --replay need --connection, whose rules are changed');
  if (flags.replay && !flags.save)
    throw new UsageError('--replay needs --save: events are delivered by the rules that are saved');
  const range = rangeOf(flags);
  const { client } = await connect(flags);
  const { sourceId } = await findSource(client, flags.source);
  const total = { events: 0, before: noCounts(), after: noCounts() };
  const differences: Page['data'] = [];
  for (let cursor: string | undefined; ; ) {
    const body = { ...rules, connectionId, ...range, cursor };
    const { data: page } = await client.webhooks.whatIf({ sourceId, body });
    total.events += page.events;
    for (const result of results) {
      total.before[result] += page.before[result];
      total.after[result] += page.after[result];
    }
    differences.push(...page.data);
    note(`${total.events} events so far`);
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  if (flags.json) printJson({ ...total, differences });
  else show(total, differences);
  if (!flags.save || connectionId === undefined) return;
  await client.webhooks.editConnection({ connectionId, body: rules });
  console.error('The rules are saved');
  if (flags.replay) await replay(client, { sourceId, connectionId }, differences);
}

const noCounts = () => ({ sent: 0, filtered: 0, dropped: 0, failed: 0 });

async function readRules(path: string): Promise<Rules> {
  try {
    const { filters = [], transform = { type: 'passthrough' } } = JSON.parse(await readFile(path, 'utf8'));
    return { filters, transform };
  } catch (error) {
    throw new UsageError(
      `--rules needs a file with {"filters": […], "transform": {…}}: ${(error as Error).message}`,
    );
  }
}

function rangeOf(flags: HookFlags) {
  const since = flags.since === undefined ? undefined : readDurationMs('--since', flags.since);
  const from = readMoment('--from', flags.from);
  if (since !== undefined && from) throw new UsageError('--since or --from, not both');
  return {
    from: since === undefined ? from?.toISOString() : new Date(Date.now() - since).toISOString(),
    to: readMoment('--to', flags.to)?.toISOString(),
  };
}

function show({ events, before, after }: Omit<Page, 'data' | 'next_cursor'>, differences: Page['data']) {
  printTable([
    [`${events} events`, 'now', 'then'],
    ...results.map(result => [result, `${before[result]}`, `${after[result]}`]),
  ]);
  console.log('');
  const rows = differences.map(one => [
    one.eventId,
    timeText(one.receivedAt),
    one.eventType ?? '',
    one.before.result,
    one.after.reason ? `${one.after.result}: ${one.after.reason}` : one.after.result,
  ]);
  printTable([['id', 'received', 'type', 'now', 'then'], ...rows], 'No event would be sent otherwise.');
}

// What the new rules would not send is not replayed: the replay would only say so again.
async function replay(
  client: Client,
  { sourceId, connectionId }: { sourceId: string; connectionId: string },
  differences: Page['data'],
): Promise<void> {
  const eventIds = differences.filter(({ after }) => after.result === 'sent').map(({ eventId }) => eventId);
  for (let at = 0; at < eventIds.length; at += replayedTogether) {
    const body = { connectionIds: [connectionId], eventIds: eventIds.slice(at, at + replayedTogether) };
    await waitForJob(client, (await client.webhooks.createJob({ sourceId, body })).data);
  }
}
