import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../free-port.ts';
import { nodeFlags } from './bundle.ts';
import { openConnection } from './connection.ts';
import { textOf } from './load.ts';
import { type Memory, memoryOf, memoryOfAll } from './memory.ts';
import { withoutSettings } from './process.ts';
import { cpuUsOf, readUsage, type Usage, withDescendants } from './usage.ts';

// `stak start` with its defaults and all its processes.
export type Command = {
  url: string;
  pids(): number[];
  readyMs: number; // from its start until it reports that it is ready
  // Adds up all its processes; undefined on other systems than Linux.
  cpuUs(): number | undefined;
  usage(): Usage | undefined;
  memory(): Memory | undefined;
  privateMb(): number | undefined; // of `memory()`, which also reads the mapped files and takes longer
  kill(): Promise<void>; // kill -9, all of them at once
  stop(): Promise<void>;
};

const readyWithinMs = 30_000;
const lookEveryMs = 5;

export async function startCommand(
  script: string,
  data: string,
  settings: Readonly<Record<string, string>> = {},
  flags = nodeFlags,
): Promise<Command> {
  const port = await findFreePort();
  const beganMs = performance.now();
  const args = [...flags, script, 'start', '--port', String(port), '--path', data];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...withoutSettings(process.env), ...settings },
  });
  const end = async (how: () => void) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    how();
    await gone;
  };
  const stop = () => end(() => child.kill('SIGTERM'));
  try {
    await untilReady(port, child);
  } catch (error) {
    await stop();
    throw error;
  }
  const pids = () => withDescendants(child.pid!);
  return {
    url: `http://127.0.0.1:${port}`,
    readyMs: performance.now() - beganMs,
    pids,
    cpuUs: () => ifLinux(() => sum(pids().map(cpuUsOf))),
    usage: () => ifLinux(() => readUsage(pids())),
    memory: () => memoryOfAll(pids()),
    privateMb: () => ifLinux(() => sum(pids().map(pid => memoryOf(pid)?.privateMb ?? 0))),
    kill: () => end(() => pids().forEach(kill)),
    stop,
  };
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
    return false; // nothing listens yet
  }
}

const ifLinux = <T>(read: () => T): T | undefined => (process.platform === 'linux' ? read() : undefined);

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has already ended
  }
}
