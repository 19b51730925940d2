import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { programOf } from './program.ts';

// Running the engine where the system refuses what it asks for.

export type Outcome = {
  opened: boolean;
  acknowledged: string[];
  errors: string[];
  readable?: boolean;
  problems?: number;
};

type Limits = { fileKiB?: number; uid?: number };

const program = programOf('store-process');

export async function runStore(path: string, mode: 'open' | 'fill', { fileKiB, uid }: Limits = {}) {
  const limit = fileKiB ? `ulimit -f ${fileKiB}; ` : '';
  const child = spawn('bash', ['-c', `${limit}exec "$0" "$@"`, process.execPath, ...program, path, mode], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid && { uid, gid: uid }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', chunk => {
    stdout += chunk;
  });
  child.stderr.on('data', chunk => {
    stderr += chunk;
  });
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Error(`the process ended with ${signal ?? code}: ${stderr}`);
  return JSON.parse(stdout) as Outcome;
}

// Whether that user may read this repository at all.
export function canRun({ uid }: Limits): boolean {
  const read = `fs.readFileSync(${JSON.stringify(program.at(-1))})`;
  return spawnSync(process.execPath, ['-e', read], { ...(uid && { uid, gid: uid }) }).status === 0;
}

// Only root may mount, and not in every container.
export function mountMemory(folder: string, size: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export const remount = (folder: string, options: string): Buffer =>
  execFileSync('mount', ['-o', `remount,${options}`, folder]);

export const unmount = (folder: string): Buffer => execFileSync('umount', [folder]);
