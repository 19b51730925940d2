import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../statistics.ts';
import { bundle, stakCommand } from './bundle.ts';
import { type Command, startCommand } from './command.ts';
import type { Memory } from './memory.ts';

// How long `stak start` takes in an empty folder until it reports that it is ready and, after a while without requests,
// its memory and its share of a core. The peak is from the first seconds, in which the demo workspace is created.
export type Starting = { readyMs: number; one: Idle; two: Idle }; // with one and with two workers
export type Idle = { memory?: Memory; corePercent?: number };

export type Starts = { folder: string; times: number; idleMs: number };

export async function measureStarting({ folder, times, idleMs }: Starts): Promise<Starting> {
  const script = await bundle(stakCommand, join(folder, 'stak'));
  const start = (name: string, workers: number) =>
    startCommand(script, join(folder, name), { STAK_WORKERS: String(workers) });
  const readyMs: number[] = [];
  for (let i = 0; i < times; i++) {
    const command = await start(`empty-${i}`, 1);
    readyMs.push(command.readyMs);
    await command.stop();
  }
  const rest = async (workers: number): Promise<Idle> => {
    const command = await start(`idle-${workers}`, workers);
    return await idleOf(command, idleMs).finally(command.stop);
  };
  return { readyMs: median(readyMs), one: await rest(1), two: await rest(2) };
}

// Waits until the work after a start is done: the demo workspace, its capture by the lake, and the end of DuckDB.
async function idleOf({ cpuUs, memory }: Command, idleMs: number): Promise<Idle> {
  await sleep(idleMs);
  const [beganMs, beforeUs] = [performance.now(), cpuUs()];
  await sleep(idleMs / 2);
  const [afterUs, held] = [cpuUs(), memory()];
  if (beforeUs === undefined || afterUs === undefined || !held) return {};
  const elapsedUs = (performance.now() - beganMs) * 1000;
  return { memory: held, corePercent: ((afterUs - beforeUs) / elapsedUs) * 100 };
}
