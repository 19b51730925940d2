import { join } from 'node:path';
import type { Plan } from '../harness.ts';
import { createBench, runParts } from '../parts.ts';
import { type Counts, type Customer, createCustomer } from '../server/customer.ts';
import { type ServerProcess, startServerProcess } from '../server/process.ts';
import { type ChatsSettings, measureChats } from './chats.ts';
import { startModel } from './model.ts';
import { printResults, readmeSection } from './report.ts';
import { measureRequests } from './requests.ts';
import { measureSaving, type SavingSettings } from './saving.ts';
import { judgeResults, type Part, partNames, type Results } from './targets.ts';
import { measureTurns } from './turns.ts';

type Extent = {
  plan: Plan;
  requestsPlan: Plan;
  saving: SavingSettings;
  requesters: Counts;
  conversationsEach: number;
  chatters: Counts;
  chats: ChatsSettings;
};

const full: Extent = {
  plan: { rounds: 7, roundMs: 500, warmUpMs: 5000 }, // V8 compiles what is used most for seconds
  // A whole server has far more that V8 compiles: for some 20,000 turns.
  requestsPlan: { rounds: 7, roundMs: 3000, warmUpMs: 30_000 },
  saving: { few: 10, many: 10_000 },
  requesters: { apiKeys: 0, sessions: 1, endUsers: 32 },
  conversationsEach: 8,
  chatters: { apiKeys: 0, sessions: 1, endUsers: 100 },
  chats: { each: 10, together: 32, comeBackEvery: 10 },
};
const quick: Extent = {
  plan: { rounds: 1, roundMs: 100, warmUpMs: 100 },
  requestsPlan: { rounds: 1, roundMs: 100, warmUpMs: 100 },
  saving: { few: 10, many: 50 },
  requesters: { apiKeys: 0, sessions: 1, endUsers: 8 },
  conversationsEach: 8,
  chatters: { apiKeys: 0, sessions: 1, endUsers: 4 },
  chats: { each: 5, together: 4, comeBackEvery: 5 },
};

const measure = (parts: readonly Part[], extent: Extent, folder: string): Promise<Results> =>
  runParts<Results, Part>(parts, {
    turns: () => measureTurns(extent.plan),
    saving: () => measureSaving(extent.saving),
    requests: () =>
      withServer(join(folder, 'requests'), {}, extent.requesters, (server, customer) =>
        measureRequests(server, customer, extent.conversationsEach, extent.requestsPlan),
      ),
    chats: () => measureOpenChats(extent, join(folder, 'chats')),
  });

async function measureOpenChats({ chatters, chats }: Extent, folder: string) {
  const model = await startModel();
  try {
    return await withServer(folder, { STAK_OPENAI_URL: model.url }, chatters, (server, customer) =>
      measureChats(server, customer, model, chats),
    );
  } finally {
    await model.close();
  }
}

async function withServer<T>(
  folder: string,
  settings: Readonly<Record<string, string>>,
  counts: Counts,
  work: (server: ServerProcess, customer: Customer) => Promise<T>,
): Promise<T> {
  const server = await startServerProcess(folder, settings);
  try {
    return await work(server, await createCustomer(server.url, counts));
  } finally {
    await server.close();
  }
}

export const run = createBench({
  name: 'agents',
  partNames,
  full,
  quick,
  measure,
  judgeResults,
  printResults,
  readmeSection,
});
