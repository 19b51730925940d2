import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { format } from 'node:util';
import { vi } from 'vitest';
import { runCommand } from '../src/cli/command-line.ts';

// Built before the tests, by test/build-programs.ts.
export const bin = fileURLToPath(new URL('../../.test/dist/main.mjs', import.meta.url));
export const lakeProgram = new URL('../../.test/dist/lake-thread.mjs', import.meta.url);
const running = new Set<ChildProcess>();

export type Run = { child: ChildProcess; stdout: string; stderr: string; code: Promise<number | null> };
export type Finished = { stdout: string; stderr: string; code: number | null };
export type Given = {
  input?: string;
  isInputOpen?: boolean; // more follows, on `child.stdin`
  env?: Record<string, string>;
  cwd?: string;
};

export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

export const start = (...args: string[]): Run => startWith({}, ...args);

export function startWith({ input, isInputOpen, env, cwd }: Given, ...args: string[]): Run {
  const child = spawn(process.execPath, [bin, ...args], {
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    env: { ...process.env, STAK_WORKERS: '1', ...env }, // one process, unless a test is about several
    cwd,
  });
  if (isInputOpen) child.stdin?.write(input ?? '');
  else child.stdin?.end(input);
  const run: Run = { child, stdout: '', stderr: '', code: once(child, 'close').then(([code]) => code) };
  running.add(child);
  child.on('close', () => running.delete(child));
  child.stdout!.on('data', chunk => {
    run.stdout += chunk;
  });
  child.stderr!.on('data', chunk => {
    run.stderr += chunk;
  });
  return run;
}

export const stak = (...args: string[]): Promise<Finished> => stakWith({}, ...args);

export async function stakWith(given: Given, ...args: string[]): Promise<Finished> {
  const run = startWith(given, ...args);
  const code = await run.code;
  return { stdout: run.stdout, stderr: run.stderr, code };
}

/**
 * The same without a process, from the sources: for commands that load a design in TypeScript, which takes a process
 * seconds. One at a time.
 */
export async function runHere(...args: string[]): Promise<Finished> {
  const written = { stdout: '', stderr: '' };
  const log = vi.spyOn(console, 'log').mockImplementation((...line) => {
    written.stdout += `${format(...line)}\n`;
  });
  const error = vi.spyOn(console, 'error').mockImplementation((...line) => {
    written.stderr += `${format(...line)}\n`;
  });
  const { exitCode } = process;
  process.exitCode = 0;
  try {
    await runCommand([process.execPath, 'stak', ...args]);
    return { ...written, code: Number(process.exitCode) };
  } finally {
    process.exitCode = exitCode;
    log.mockRestore();
    error.mockRestore();
  }
}
