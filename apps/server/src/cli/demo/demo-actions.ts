import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient, iterate } from '@stak/client';
import { seededRandom } from '@stak/kit';
import { loadEnvFile, readClientConfig, readDataFolder } from '../../config/config.ts';
import { UsageError } from '../../config/errors.ts';
import { readCount, readDurationMs } from '../../config/flags.ts';
import { isLoopback } from '../../config/loopback.ts';
import { type Demo, readDemo } from '../../http/demo-file.ts';
import { findServer } from '../../process/server-file.ts';
import { untilStopped } from '../../process/signals.ts';
import { showProgress } from '../progress.ts';
import { firstOrder } from './demo.ts';
import { openShipping } from './demo-shipping.ts';
import { waitForDemo } from './demo-wait.ts';
import { createStage, type Stage, watchedEvents } from './stage.ts';
import { type Beat, tellStory } from './story.ts';
import { inbox_key, openWorkspace, storyLabel, tenant_id, type Workspace } from './workspace.ts';

export type DemoFlags = { url?: unknown; path?: unknown; pace?: unknown; for?: unknown; seed?: unknown };

const filledBeats = 170; // about fifty webhooks: the free plan allows a hundred per minute
const usualPace = 40; // events per minute: slow enough to follow
const fastestPace = 240; // faster, and the server starts to refuse requests: 600 per minute for one caller
const readyMs = 500;

export async function demo(flags: DemoFlags): Promise<void> {
  loadEnvFile();
  const seed = readCount('--seed', flags.seed, 1);
  const live = readLive(flags);
  const folder = readDataFolder(flags);
  const url = chooseServer(flags, folder);
  const client = await signIn(url, folder);
  const stopping = new AbortController();
  void untilStopped().then(() => stopping.abort());

  console.log(`The story of a shop, in the demo workspace of ${url}`);
  const startMs = Date.now();
  const workspace = await openWorkspace(client, url, startMs);
  const orders = await clearAway(workspace);
  const random = seededRandom(seed);
  const shipping = await openShipping(workspace, seededRandom(seed + 1));
  const stage = createStage(workspace, { run: `run-${startMs.toString(36)}`, startMs, shipping });
  const story = tellStory(random, firstOrder + orders);
  try {
    await fill(stage, story, stopping.signal);
    if (live && !stopping.signal.aborted) {
      console.log(`Live from now on, ${live.pace} things a minute; stop with Ctrl-C`);
      await goOn(stage, story, live, stopping.signal);
    }
    await shipping.settle(stage.eventIds.slice(-watchedEvents));
  } finally {
    await shipping.close();
  }
  const { webhooks, messages, tasks, chats } = stage.counts;
  console.log(
    `${webhooks} webhooks, ${messages} messages, ${tasks} tasks and ${chats} questions to the agent.`,
  );
  console.log(
    `Look at them in the console, at ${url}. The shipping desk has closed: its connection is paused.`,
  );
}

// Uses only the server of the folder: the server at the usual address may be another one. A server without a file in
// its folder must be named.
function chooseServer(flags: DemoFlags, folder: string): string {
  const { flagUrl } = readClientConfig(flags);
  const server = findServer(folder);
  if (flagUrl === undefined && server === undefined)
    throw new UsageError(
      `no server runs in ${folder}; start one with stak start, or name the folder of one with --path`,
    );
  if (flagUrl !== undefined && server !== undefined && !isSame(flagUrl, server))
    throw new UsageError(
      `the server of ${folder} is at ${server}, not at ${flagUrl}; name the folder of the other with --path`,
    );
  return flagUrl ?? server!;
}

const isSame = (value: string, other: string): boolean => {
  const [a, b] = [value, other].map(url => new URL(url));
  return (
    a!.port === b!.port && (a!.hostname === b!.hostname || [a!, b!].every(url => isLoopback(url.hostname)))
  );
};

type Live = { pace: number; forMs: number };

function readLive(flags: DemoFlags): Live | undefined {
  if (flags.pace === undefined && flags.for === undefined) return undefined;
  const pace = readCount('--pace', flags.pace, usualPace);
  if (pace > fastestPace) throw new UsageError(`--pace is ${fastestPace} at most`);
  const forMs = flags.for === undefined ? Number.POSITIVE_INFINITY : readDurationMs('--for', flags.for);
  return { pace, forMs };
}

// The server stores the demo's password in its data folder, for users who may read that.
async function findDemo(url: string, folder: string): Promise<Demo> {
  await fetch(`${url}/healthz`).catch(() => {
    throw new UsageError(
      `no server answers at ${url}; start one with stak start, or name another with --url`,
    );
  });
  const demo = await waitForDemo(
    () => readDemo(folder),
    () => sleep(readyMs),
  );
  if (demo === 'unfinished')
    throw new UsageError(`the server at ${url} is still creating the demo workspace; try again in a minute`);
  if (demo !== 'absent') return demo;
  throw new UsageError(
    `there is no demo workspace in ${folder}; name the data folder of the server at ${url} with --path. A server makes one when it starts on this machine, in a folder, without --no-demo`,
  );
}

async function signIn(url: string, folder: string): Promise<Client> {
  const { email, password } = await findDemo(url, folder);
  const { accounts } = createClient({ baseUrl: url });
  const logIn = async () =>
    (await accounts.logIn({ body: { email, password, cookie: false } })).data.access_token;
  let token = await logIn();
  return createClient({
    baseUrl: url,
    token: () => token,
    onUnauthorized: async () => {
      token = await logIn();
      return true;
    },
  });
}

// Cleans up after an earlier story: its tasks go to the trash, its messages are marked read. Returns how many orders
// there may have been.
async function clearAway({ client, stripe }: Workspace): Promise<number> {
  const left: string[] = [];
  for await (const { task_id } of iterate(client.tasks.list, {
    filter: `label:${storyLabel} is:open`,
    limit: 100,
  }))
    left.push(task_id);
  for (let at = 0; at < left.length; at += 100) {
    const items = left.slice(at, at + 100).map(task_id => ({ op: 'delete', task_id }) as const);
    await client.tasks.bulk({ body: { items } });
  }
  await client.inbox.readMany({ tenant_id, inbox_key, uid: 'ann', body: {} });
  const { data } = await client.webhooks.readSource({ sourceId: stripe.sourceId });
  return data.eventCount;
}

type Story = Generator<Beat, never>;

async function fill(stage: Stage, story: Story, signal: AbortSignal): Promise<void> {
  const progress = showProgress('Filling', filledBeats);
  for (let told = 0; told < filledBeats && !signal.aborted; told++) {
    await stage.play(story.next().value);
    progress.step();
  }
  progress.end();
}

async function goOn(stage: Stage, story: Story, { pace, forMs }: Live, signal: AbortSignal): Promise<void> {
  const endMs = Date.now() + forMs;
  while (Date.now() < endMs && !signal.aborted) {
    const line = await stage.play(story.next().value);
    if (line === undefined) continue;
    console.log(`${new Date().toLocaleTimeString('en-GB')}  ${line}`);
    await sleep(60_000 / pace, undefined, { signal }).catch(() => undefined);
  }
}
