import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../free-port.ts';
import { nodeFlags } from './bundle.ts';
import { openConnection } from './connection.ts';
import { textOf } from './load.ts';
import { type Memory, memoryOfAll } from './memory.ts';
import { withoutSettings } from './process.ts';

// `stak start` with its defaults and all its processes.
export type Command = {
  url: string;
  readyMs: number; // from its start until it reports that it is ready
  // Of all its processes together; undefined on other systems than Linux.
  cpuUs(): number | undefined;
  memory(): Memory | undefined;
  kill(): Promise<void>; // kill -9, all of them at once
  stop(): Promise<void>;
};

const readyWithinMs = 30_000;
const lookEveryMs = 5;
const tickUs = 10_000; // the kernel counts in hundredths of a second

export async function startCommand(
  script: string,
  data: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Command> {
  const port = await findFreePort();
  const beganMs = performance.now();
  const args = [...nodeFlags, script, 'start', '--port', String(port), '--path', data];
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
    cpuUs: () => (process.platform === 'linux' ? sum(pids().map(cpuUsOf)) : undefined),
    memory: () => memoryOfAll(pids()),
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

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has already ended
  }
}

// Fields 14 to 17 of /proc/PID/stat: user and system time of the process and of its ended children.
const cpuUsOf = (pid: number): number => sum((statOf(pid) ?? []).slice(11, 15).map(Number)) * tickUs;

// The fields after the name, which may contain spaces and brackets. Undefined if the process has ended.
function statOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function withDescendants(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
    if (stat) parents.set(Number(name), Number(stat[1]));
  }
  const found = [pid];
  for (const one of found) for (const [child, parent] of parents) if (parent === one) found.push(child);
  return found;
}
