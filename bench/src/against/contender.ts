import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inDataFolder } from '../data-folder.ts';
import { bundle, nodeFlagsIn, stakCommandIn } from '../server/bundle.ts';
import { type Command, startCommand } from '../server/command.ts';
import { createCustomer } from '../server/customer.ts';
import { watchPeak } from '../server/memory.ts';
import { usageBetween } from '../server/usage.ts';
import type { Destination } from '../webhooks/destination.ts';
import type { Arguments } from './arguments.ts';
import type { Sample } from './comparison.ts';
import { countInstructions } from './instructions.ts';
import { customerCounts, type Operation, openOperations } from './operations.ts';

// One of the two servers, with its customer and its load.
export type Contender = {
  idle: Sample;
  operationNames: readonly string[];
  // One round of an operation, with the work that the server does for it afterwards.
  measure(operation: string, durationMs: number): Promise<Sample>;
};

export type ContenderSettings = Pick<Arguments, 'services' | 'workers'> & {
  root: string; // of its checkout
  data: string;
  destination: Destination;
  idleMs: number;
  settleMs: number;
  countsInstructions: boolean;
};

// Bundles the server within its own checkout and runs it until the work is done.
export function withContender<T>(
  settings: ContenderSettings,
  work: (contender: Contender) => Promise<T>,
): Promise<T> {
  const { root, data, workers } = settings;
  return inDataFolder(
    'against',
    async folder => {
      const script = await bundle(stakCommandIn(root), join(folder, 'stak'), root);
      const environment = {
        STAK_DEMO: 'off',
        STAK_REQUESTS_PER_MINUTE: '1000000000', // no rate limit
        ...(workers === undefined ? {} : { STAK_WORKERS: String(workers) }),
      };
      const command = await startCommand(script, data, environment, nodeFlagsIn(root));
      try {
        return await withOperations(command, settings, work);
      } finally {
        await command.stop();
      }
    },
    root,
  );
}

async function withOperations<T>(
  command: Command,
  settings: ContenderSettings,
  work: (contender: Contender) => Promise<T>,
): Promise<T> {
  const { destination, services, idleMs } = settings;
  await sleep(idleMs);
  const idle = { privateMb: command.privateMb() };
  const customer = await createCustomer(command.url, customerCounts);
  const { operations, close } = await openOperations({ url: command.url, customer, destination }, services);
  try {
    return await work({
      idle,
      operationNames: operations.map(({ name }) => name),
      measure: (name, durationMs) =>
        measure(command, operations.find(operation => operation.name === name)!, durationMs, settings),
    });
  } finally {
    await close();
  }
}

async function measure(
  command: Command,
  operation: Operation,
  durationMs: number,
  { settleMs, countsInstructions }: ContenderSettings,
): Promise<Sample> {
  const instructions = countsInstructions ? await countInstructions(command.pids()) : undefined;
  const before = command.usage();
  const memory = watchPeak(command.privateMb);
  const { count, sample } = await operation.run(durationMs).finally(memory.stop);
  await sleep(settleMs);
  const after = command.usage();
  const instructionCount = await instructions?.stop();
  const spent = before && after ? usageBetween(before, after) : undefined;
  return {
    ...sample,
    cpuUs: spent && spent.cpuUs / count,
    writtenBytes: spent && spent.writtenBytes / count,
    instructions: instructionCount === undefined ? undefined : instructionCount / count,
    privateMb: memory.peak(),
  };
}
