import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../free-port.ts';
import { median } from '../statistics.ts';
import { bundle, nodeFlags, stakCommand } from './bundle.ts';
import { openConnection } from './connection.ts';
import { textOf } from './load.ts';
import { type Memory, memoryOf } from './memory.ts';
import { withoutSettings } from './process.ts';

// How long `stak start` takes in an empty folder until it says that it is ready, and what it holds when nobody has
// called for a while. The peak is of the first seconds, in which the demo workspace is made.
export type Starting = { readyMs: number; memory?: Memory };

export type Starts = { folder: string; times: number; idleMs: number };

const readyWithinMs = 30_000;
const lookEveryMs = 5;

export async function measureStarting({ folder, times, idleMs }: Starts): Promise<Starting> {
  const script = await bundle(stakCommand, join(folder, 'stak'));
  const readyMs: number[] = [];
  let memory: Memory | undefined;
  for (let i = 0; i < times; i++) {
    const port = await findFreePort();
    const beganMs = performance.now();
    const child = start(script, port, join(folder, `empty-${i}`));
    try {
      await untilReady(port, child);
      readyMs.push(performance.now() - beganMs);
      if (i === times - 1) {
        await sleep(idleMs);
        memory = memoryOf(child.pid!);
      }
    } finally {
      await stop(child);
    }
  }
  return { readyMs: median(readyMs), ...(memory && { memory }) };
}

const start = (script: string, port: number, data: string): ChildProcess =>
  spawn(process.execPath, [...nodeFlags, script, 'start', '--port', String(port), '--path', data], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: withoutSettings(process.env),
  });

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

async function untilReady(port: number, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + readyWithinMs;
  while (!(await isReady(port))) {
    if (child.exitCode !== null) throw new Error(`stak start ended with ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error(`stak start was not ready in ${readyWithinMs} ms`);
    await sleep(lookEveryMs);
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    const connection = await openConnection(port);
    const request = textOf({ method: 'GET', path: '/readyz' }, `127.0.0.1:${port}`);
    const { status } = await connection.send(Buffer.from(request));
    connection.close();
    return status === 200;
  } catch {
    return false; // nobody listens yet
  }
}
