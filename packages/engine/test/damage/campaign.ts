import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { programOf } from '../crash/program.ts';

// What happened to a damaged store: it was refused when it was opened, or its check found something, or the damage was
// in bytes that nothing uses.
export type Outcome = {
  seed: number;
  kind: string;
  refused?: string;
  problems: string[];
  // Items that were returned with another content, or lost without a word.
  wrong: string[];
};

/** Damages a store again and again, in a process of its own. */
export async function runDamage(path: string, firstSeed: number, count: number) {
  const program = programOf('damage-process', import.meta.url);
  const child = spawn(process.execPath, [...program, path, `${firstSeed}`, `${count}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', chunk => {
    stdout += chunk;
  });
  child.stderr.on('data', chunk => {
    stderr += chunk;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  const outcomes = stdout
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Outcome);
  return { code, signal, stderr, outcomes };
}
