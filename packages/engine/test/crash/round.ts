import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createEngine, type Engine } from '../../src/index.ts';
import { countLines, type Entry, type Journal, readJournal, type Theme } from './journal.ts';
import { removeScratch, verifyTables } from './table-verification.ts';
import { verifyData } from './verification.ts';
import { type Operation, transactionOf } from './workload.ts';

// One round: start the writers, kill them after so many messages, look at what they left.

export type RoundOptions = {
  folder: string;
  seed: number;
  round: number;
  theme: Theme;
  killAfter: number;
  // Of all rounds on this folder; this round adds to it.
  operations: Entry<Operation>[];
};

export type RoundResult = { started: number; acknowledged: number; violations: string[] };

const program = fileURLToPath(new URL('writer-process.ts', import.meta.url));
const silenceMs = 60_000;

export async function runRound(options: RoundOptions): Promise<RoundResult> {
  const { journal, stderr } = await runWriters(options);
  options.operations.push(...journal.operations);
  return {
    started: journal.operations.length,
    acknowledged: journal.operations.filter(({ done }) => done).length,
    violations: [...journal.failures, ...stderr, ...(await verify(options, journal))],
  };
}

async function runWriters({ folder, seed, round, theme, killAfter }: RoundOptions) {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', program, folder, String(seed), String(round), theme],
    { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const chunks: Buffer[] = [];
  const complaints: Buffer[] = [];
  let lines = 0;
  const watchdog = setTimeout(() => child.kill('SIGKILL'), silenceMs);
  child.stdio[3]!.on('data', (chunk: Buffer) => {
    watchdog.refresh();
    chunks.push(chunk);
    lines += countLines(chunk);
    if (lines >= killAfter) child.kill('SIGKILL');
  });
  child.stderr!.on('data', (chunk: Buffer) => complaints.push(chunk));
  await once(child, 'close');
  clearTimeout(watchdog);
  const stderr = complaints.length > 0 ? [`the writers complained: ${Buffer.concat(complaints)}`] : [];
  if (lines < killAfter) stderr.push(`the writers fell silent after ${lines} messages`);
  return { journal: readJournal(Buffer.concat(chunks).toString()), stderr };
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
