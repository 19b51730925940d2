import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

// Programs as an operator starts them, each with the processes that it starts in a group of its own.

const running = new Set<ChildProcess>();
// Nothing of the process that runs this, such as a loader or a server's address, goes to them.
const clean = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR };

export type Program = { command: string; args: string[]; cwd: string; env?: Record<string, string> };

function begin({ command, args, cwd, env }: Program): ChildProcess {
  const child = spawn(command, args, {
    cwd,
    env: { ...clean, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

export type Finished = { code: number; output: string };

/** Runs a program to its end. */
export async function run(program: Program): Promise<Finished> {
  const child = begin(program);
  let output = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', chunk => {
      output += chunk;
    });
  const [code] = await once(child, 'close');
  return { code: code as number, output };
}

/** Runs a program that has to succeed, and returns what it printed. */
export async function runWell(program: Program): Promise<string> {
  const { code, output } = await run(program);
  if (code !== 0)
    throw new Error(`${program.command} ${program.args.join(' ')} ended with ${code}:\n${output}`);
  return output;
}

export type Server = {
  url: string;
  stop(): Promise<void>; // by SIGTERM; it has to end with 0
  kill(): Promise<void>; // by SIGKILL, with all its processes
};

/** Starts a server, until it says where it is. */
export async function startServer(program: Program): Promise<Server> {
  const child = begin(program);
  const closed = once(child, 'close');
  const lines: string[] = [];
  let url: string | undefined;
  createInterface(child.stderr!).on('line', line => lines.push(line));
  for await (const line of createInterface(child.stdout!)) {
    lines.push(line);
    url = / at (http:\S+)/.exec(line)?.[1];
    if (url) break;
  }
  if (url === undefined) throw new Error(`${program.args.join(' ')} did not start:\n${lines.join('\n')}`);
  child.stdout!.resume();
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      const [code] = await closed;
      if (code !== 0) throw new Error(`The server ended with ${code}:\n${lines.join('\n')}`);
    },
    async kill() {
      endGroup(child);
      await closed;
    },
  };
}

function endGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** Ends everything that was started here and still runs. */
export function endAll(): void {
  for (const child of running) endGroup(child);
}
