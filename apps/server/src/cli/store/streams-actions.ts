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
import { printJson } from '../print.ts';

export type Flags = {
  path?: unknown;
  endpoint?: unknown;
  region?: unknown;
  prefix?: unknown;
  json?: unknown;
  maxLag?: unknown;
};

type Opened = { store: Store; source: StreamSource };
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

const readOne = ({ store, source }: Opened, consumer: string): Promise<ConsumerStatus> =>
  readStatus({ store, source, clock: systemClock }, consumer);

async function status(
  opened: Opened,
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
  else for (const one of all) printStatus(one);
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

const count = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`;

async function letters({ store }: Opened, consumer: string, asJson: boolean): Promise<void> {
  const found: object[] = [];
  for await (const letter of createDeadLetters({ store, clock: systemClock, consumer }).list()) {
    const { event_id, sequence, attempts, failed_at, error } = letter;
    const shown = { event_id, sequence, attempts, failed_at: new Date(failed_at), error };
    if (asJson) found.push(shown);
    else console.log(JSON.stringify(shown));
  }
  if (asJson) printJson(found);
}

async function redrive(opened: Opened, consumer: string): Promise<void> {
  const { deadLetters, members } = await readOne(opened, consumer);
  if (deadLetters === 0) return console.log(`${consumer} has no dead letters.`);
  await requestRedrive(opened.store, systemClock, consumer);
  const when = members === 0 ? 'when it runs again' : 'within seconds';
  console.log(`${consumer} handles ${count(deadLetters, 'dead letter', 'dead letters')} again ${when}.`);
}

const watchOf = ({ store }: Opened) =>
  createMissedWatch({ store, clock: systemClock, log: createLogger({ level: 'silent' }) });

async function missed(opened: Opened, asJson: boolean): Promise<void> {
  const found = (await watchOf(opened).read()).map(({ consumer, table, since, noticed_at }) => ({
    consumer,
    table,
    ...(since !== undefined && { since: new Date(since) }),
    noticed_at: new Date(noticed_at),
  }));
  if (asJson) return printJson(found);
  if (found.length === 0) console.log('No consumer has lost changes.');
  for (const one of found) console.log(JSON.stringify(one));
}

async function forget(opened: Opened, consumer: string): Promise<void> {
  const watch = watchOf(opened);
  const isNoted = (await watch.read()).some(one => one.consumer === consumer);
  if (isNoted) await watch.forget(consumer);
  console.log(isNoted ? `${consumer}: the note is dropped.` : `${consumer} has lost no changes.`);
}

const withOpened = (flags: Flags, work: (opened: Opened) => Promise<void>): Promise<void> =>
  visitDatabase(
    readStoreConfig(flags),
    'there is no table stak-streams here: no consumer has ever run',
    ({ client, source }) => work({ store: createStore({ client }), source }),
  );
