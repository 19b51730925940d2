import { hostname } from 'node:os';
import type { Engine } from '@stak/engine';
import type { Clock, Peers } from '@stak/kit';
import { streamsTable } from '@stak/streams';
import { createStore } from '@stak/table';
import { z } from 'zod';
import type { ServerConfig, StoreConfig } from '../../config/config.ts';
import { explain } from '../../config/errors.ts';
import { readSecretKeyTexts } from '../../config/secrets.ts';
import { openDatabase } from '../database.ts';
import { finishArrival } from './arrival.ts';

// How the server of a store notices that it has moved. The store itself records it, in the item that refuses all
// writes; a running server closes the store and continues with the new one, and so does one that is started later.

const moveSchema = z.object({
  id: z.string(),
  region: z.string(),
  endpoint: z.string().optional(),
  prefix: z.string().optional(),
});
/** The place that a store has moved to, and the migration that moved it. */
export type Move = z.infer<typeof moveSchema>;

export type PausableStore = Pick<Engine, 'writePause'>;

export function readMove({ writePause }: PausableStore): Move | undefined {
  const pause = writePause.read();
  return pause?.until === null ? moveSchema.parse(pause.note) : undefined;
}

export const storeOf = ({ region, endpoint, prefix }: Omit<Move, 'id'>): StoreConfig => ({
  kind: 'aws',
  region,
  endpoint,
  ...(prefix !== undefined && { prefix }),
});

export const describeTarget = ({ region, endpoint, prefix }: Omit<Move, 'id'>): string =>
  `${endpoint ?? `DynamoDB in ${region}`}${prefix === undefined ? '' : `, prefix ${prefix}`}`;

/** The settings with which a server continues: its own, except for the store and its backup. */
export async function followMove(config: ServerConfig, move: Move, clock: Clock): Promise<ServerConfig> {
  const secretKeys = await readSecretKeyTexts(config);
  const store = storeOf(move);
  const database = await openDatabase(store);
  try {
    await finishArrival(createStore({ client: database.client, clock }), move.id, clock.now());
  } finally {
    await database.close();
  }
  return { ...config, store, backup: undefined, secretKeys };
}

const lookMs = 500;
const pausedLookMs = 50;

/** Calls back once, when the store has moved. Returns a function that stops watching. */
export function watchMove(store: PausableStore, onMoved: () => void): () => void {
  let timer: NodeJS.Timeout;
  const look = () => {
    const pause = readPause(store);
    if (pause?.until === null) return onMoved();
    timer = setTimeout(look, pause ? pausedLookMs : lookMs).unref();
  };
  look();
  return () => clearTimeout(timer);
}

// A store that cannot be read has not moved; /readyz says what is wrong with it.
function readPause({ writePause }: PausableStore) {
  try {
    return writePause.read();
  } catch {
    return undefined;
  }
}

// ---- before the move, servers are asked whether they can reach the new store

const askTopic = 'migration target';
const answerTopic = 'migration target answer';
const answerSchema = z.object({ id: z.string(), failure: z.string().optional() });

/** Lets `stak migrate` ask whether this process can reach the store that it is to continue with. */
export function answerMigration(peers: Peers): void {
  peers.onMessage(askTopic, async (body, from) => {
    const move = moveSchema.safeParse(body);
    if (!move.success) return;
    const failure = await reach(storeOf(move.data)).then(
      () => undefined,
      error => `process ${process.pid} on ${hostname()}: ${explain(error)}`,
    );
    peers.send(answerTopic, { id: move.data.id, failure }, from);
  });
}

async function reach(store: StoreConfig): Promise<void> {
  const database = await openDatabase(store);
  try {
    await database.control.execute('DescribeTable', { TableName: streamsTable.name });
  } finally {
    await database.close();
  }
}

const othersMs = 1_000; // after the first

/** How many processes serve the store, and why those that do not reach the new one fail. */
export async function askServers(
  peers: Peers,
  move: Move,
  { clock, firstMs }: { clock: Clock; firstMs: number },
): Promise<{ count: number; failures: string[] }> {
  const failures: string[] = [];
  let count = 0;
  const answered = new AbortController();
  peers.onMessage(answerTopic, body => {
    const answer = answerSchema.safeParse(body);
    if (!answer.success || answer.data.id !== move.id) return;
    count += 1;
    if (answer.data.failure !== undefined) failures.push(answer.data.failure);
    answered.abort();
  });
  peers.send(askTopic, move);
  await clock.sleep(firstMs, answered.signal).catch(() => {});
  if (count > 0) await clock.sleep(othersMs);
  return { count, failures };
}
