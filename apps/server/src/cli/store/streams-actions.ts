import { createLogger, systemClock } from '@stak/kit';
import {
  type ConsumerStatus,
  createDeadLetters,
  createMissedWatch,
  listConsumers,
  readStatus,
  requestRedrive,
  type ShardStatus,
  type StreamSource,
} from '@stak/streams';
import { createStore, type Store } from '@stak/table';
import { readStoreConfig } from '../../config/config.ts';
import { UsageError } from '../../config/errors.ts';
import { readDurationMs } from '../../config/flags.ts';
import { visitDatabase } from '../../store/visit.ts';
import type { FlagsOf } from '../action.ts';
import { printJson } from '../print.ts';
import type { options } from './streams.ts';

type Flags = FlagsOf<typeof options>;

type OpenStreams = { store: Store; source: StreamSource };
type Action = (flags: Flags, consumer: string | undefined) => Promise<void>;

export const actions = {
  status(flags, consumer) {
    const maxLagMs = flags.maxLag === undefined ? undefined : readDurationMs('--max-lag', flags.maxLag);
    return withOpened(flags, opened => status(opened, consumer, flags.json === true, maxLagMs));
  },
  letters: (flags, consumer) =>
    withOpened(flags, opened => letters(opened, nameOf(consumer), flags.json === true)),
  redrive: (flags, consumer) => withOpened(flags, opened => redrive(opened, nameOf(consumer))),
  missed: flags => withOpened(flags, opened => missed(opened, flags.json === true)),
  forget: (flags, consumer) => withOpened(flags, opened => forget(opened, nameOf(consumer))),
} satisfies Record<string, Action>;

function nameOf(consumer: string | undefined): string {
  if (consumer === undefined) throw new UsageError('which consumer? see stak streams status');
  return consumer;
}

const readOne = ({ store, source }: OpenStreams, consumer: string): Promise<ConsumerStatus> =>
  readStatus({ store, source, clock: systemClock }, consumer);

async function status(
  opened: OpenStreams,
  consumer: string | undefined,
  asJson: boolean,
  maxLagMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  const names = consumer === undefined ? await listConsumers(opened.store) : [consumer];
  const all: ConsumerStatus[] = [];
  for (const name of names) all.push(await readOne(opened, name));
  const isLate = all.some(({ shards }) => shards.some(shard => lagMsOf(shard) > maxLagMs));
  if (isLate) process.exitCode = 2;
  else if (all.some(({ deadLetters }) => deadLetters > 0)) process.exitCode = 3;
  if (asJson) console.log(JSON.stringify(all, null, 2));
  else if (all.length === 0) console.log('No consumer has run here yet.');
  else for (const status of all) printStatus(status);
}

const lagMsOf = ({ behind }: ShardStatus): number =>
  behind?.oldestAt === undefined ? 0 : systemClock.now() - Date.parse(behind.oldestAt);

function printStatus(status: ConsumerStatus): void {
  const { consumer, table, members, deadLetters, redriving, shards, elsewhere } = status;
  const facts = [
    elsewhere ? 'a Lambda function' : count(members, 'process', 'processes'),
    count(deadLetters, 'dead letter', 'dead letters'),
  ];
  console.log(`${consumer} follows ${table}: ${facts.join(', ')}${redriving ? ', redriving' : ''}`);
  for (const shard of shards) if (shard.state !== 'finished') console.log(`  ${describeShard(shard)}`);
}

function describeShard({ shardId, state, owner, behind, sequence }: ShardStatus): string {
  const opened = sequence === undefined ? 'at its beginning' : `at ${sequence}`;
  const lag = behind?.records
    ? `${behind.atLeast ? 'at least ' : ''}${count(behind.records, 'record', 'records')} behind since ${behind.oldestAt}`
    : 'up to date';
  return `${shardId}: ${owner ? `owned by ${owner}` : state}, ${opened}, ${lag}`;
}

const count = (number: number, singular: string, many: string) =>
  `${number} ${number === 1 ? singular : many}`;

async function letters({ store }: OpenStreams, consumer: string, asJson: boolean): Promise<void> {
  const rows: object[] = [];
  for await (const letter of createDeadLetters({ store, clock: systemClock, consumer }).list()) {
    const { event_id, sequence, attempts, failed_at, error } = letter;
    const shown = { event_id, sequence, attempts, failed_at: new Date(failed_at), error };
    if (asJson) rows.push(shown);
    else console.log(JSON.stringify(shown));
  }
  if (asJson) printJson(rows);
}

async function redrive(opened: OpenStreams, consumer: string): Promise<void> {
  const { deadLetters, members } = await readOne(opened, consumer);
  if (deadLetters === 0) return console.log(`${consumer} has no dead letters.`);
  await requestRedrive(opened.store, systemClock, consumer);
  const when = members === 0 ? 'when it runs again' : 'within seconds';
  console.log(`${consumer} handles ${count(deadLetters, 'dead letter', 'dead letters')} again ${when}.`);
}

const watchOf = ({ store }: OpenStreams) =>
  createMissedWatch({ store, clock: systemClock, log: createLogger({ level: 'silent' }) });

async function missed(opened: OpenStreams, asJson: boolean): Promise<void> {
  const missed = (await watchOf(opened).read()).map(({ consumer, table, since, noticed_at }) => ({
    consumer,
    table,
    ...(since !== undefined && { since: new Date(since) }),
    noticed_at: new Date(noticed_at),
  }));
  if (asJson) return printJson(missed);
  if (missed.length === 0) console.log('No consumer has lost changes.');
  for (const row of missed) console.log(JSON.stringify(row));
}

async function forget(opened: OpenStreams, consumer: string): Promise<void> {
  const watch = watchOf(opened);
  const isNoted = (await watch.read()).some(missed => missed.consumer === consumer);
  if (isNoted) await watch.forget(consumer);
  console.log(isNoted ? `${consumer}: the note is dropped.` : `${consumer} has lost no changes.`);
}

const withOpened = (flags: Flags, work: (opened: OpenStreams) => Promise<void>): Promise<void> =>
  visitDatabase(
    readStoreConfig(flags),
    'there is no table stak-streams here: no consumer has ever run',
    ({ client, source }) => work({ store: createStore({ client }), source }),
  );
