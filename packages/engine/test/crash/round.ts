import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createEngine, type Engine } from '../../src/index.ts';
import { countLines, type Entry, type Journal, joinJournals, readJournal, type Theme } from './journal.ts';
import { programOf } from './program.ts';
import { createRandom } from './random.ts';
import { removeScratch, verifyTables } from './table-verification.ts';
import { verifyData } from './verification.ts';
import { type Operation, transactionOf, writerCount } from './workload.ts';

// One round: start the processes that write, kill one or another of them and in the end all, look at what they left.

export type RoundOptions = {
  folder: string;
  seed: number;
  round: number;
  theme: Theme;
  killAfter: number; // messages of all processes
  processes: number;
  // Operations of all rounds on this folder; this round adds to it.
  operations: Entry<Operation>[];
};

export type RoundResult = { kills: number; started: number; acknowledged: number; violations: string[] };

const program = programOf('writer-process');
const silenceMs = 60_000;

export async function runRound(options: RoundOptions): Promise<RoundResult> {
  const { journal, stderr, kills } = await runWriters(options);
  options.operations.push(...journal.operations);
  return {
    kills,
    started: journal.operations.length,
    acknowledged: journal.operations.filter(({ done }) => done).length,
    violations: [...journal.failures, ...stderr, ...(await verify(options, journal))],
  };
}

async function runWriters({ folder, seed, round, theme, killAfter, processes }: RoundOptions) {
  const random = createRandom(seed, round, 'kills');
  const running = new Set<ChildProcess>();
  const journals: Journal[] = [];
  const complaints: Buffer[] = [];
  let lines = 0;
  let kills = 0; // of single processes
  const isOver = () => lines >= killAfter;
  const killAll = () => {
    for (const child of running) child.kill('SIGKILL');
  };
  let isSilent = false;
  const watchdog = setTimeout(() => {
    isSilent = true;
    killAll();
  }, silenceMs);
  // One of several processes dies now and then while the others go on.
  const moments =
    processes === 1 ? [] : Array.from({ length: random.below(2 * processes) }, () => random.below(killAfter));
  moments.sort((a, b) => a - b);

  // The same writers, in one process after another.
  async function live(number: number): Promise<void> {
    for (let life = 0; !isOver() && !isSilent; life++) {
      // The tables are changed by one process, and nobody else knows how far it was.
      const own = life === 0 && number === 0 ? theme : theme === 'sweep' ? 'expiring' : 'writes';
      const name = processes === 1 ? String(round) : `${round}-${number}-${life}`;
      const args = [folder, String(seed), name, own, String(number * writerCount)];
      const child = spawn(process.execPath, [...program, ...args], {
        stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      });
      running.add(child);
      const chunks: Buffer[] = [];
      child.stdio[3]!.on('data', (chunk: Buffer) => {
        watchdog.refresh();
        chunks.push(chunk);
        lines += countLines(chunk);
        if (isOver()) return killAll();
        if (lines < (moments[0] ?? killAfter)) return;
        moments.shift();
        kills += 1;
        random.pick([...running]).kill('SIGKILL');
      });
      child.stderr!.on('data', (chunk: Buffer) => complaints.push(chunk));
      await once(child, 'close');
      running.delete(child);
      journals.push(readJournal(Buffer.concat(chunks).toString()));
    }
  }
  await Promise.all(Array.from({ length: processes }, (_, number) => live(number)));
  clearTimeout(watchdog);
  const stderr = complaints.length > 0 ? [`the writers complained: ${Buffer.concat(complaints)}`] : [];
  if (isSilent) stderr.push(`the writers fell silent after ${lines} messages`);
  return { journal: joinJournals(journals), stderr, kills };
}

async function verify({ folder, operations }: RoundOptions, { controls }: Journal): Promise<string[]> {
  const violations: string[] = [];
  const engine = await createEngine({
    path: folder,
    sweepIntervalMs: 0,
    onError: (error, work) => violations.push(`${work}: ${error.message}`),
  });
  try {
    // Before and after the unfinished work is taken up.
    violations.push(...engine.check().problems.map(({ message, key }) => `at once: ${message} (${key})`));
    await engine.settled();
    violations.push(...(await verifyTables(engine, controls)));
    violations.push(...(await verifyData(engine, operations)));
    await retryTransactions(engine, operations);
    await engine.sweep();
    violations.push(...(await verifyData(engine, operations)));
    violations.push(...(await removeScratch(engine)));
  } finally {
    await engine.close();
  }
  return violations;
}

// Nobody knows which of them were applied; asking again is what the token is for.
async function retryTransactions(engine: Engine, operations: Entry<Operation>[]): Promise<void> {
  const transactions = operations.filter(({ intent }) => intent.kind === 'once');
  await Promise.all(transactions.map(({ intent }) => engine.client.transactWrite(transactionOf(intent))));
  for (const entry of transactions) entry.done = true;
}
