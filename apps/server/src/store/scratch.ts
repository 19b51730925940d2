import { readFileSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

// Folders for files of one process. What a killed process left behind is removed by the next one: it may contain rows
// of a user who was erased since.

export type Scratch = { path: string; remove(): Promise<void> };

// Identifies a process, also against a later one with the same pid, which is common in containers. Processes can see
// each other if they are in the same space.
type ScratchOwner = { space: string; pid: number; started: string };

const ownerFile = 'owner';
const touchMs = 60 * 60_000;
const abandonedMs = 24 * touchMs; // of an owner that cannot be seen from here, as in another container
const prefix = 'stak-lake-';

export async function openScratch(parent: string): Promise<Scratch> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await sweepScratch(parent);
  const path = await mkdtemp(join(parent, `${prefix}${process.pid}-`));
  const owner: ScratchOwner = { space: space(), pid: process.pid, started: startedAt(process.pid) ?? '' };
  await writeFile(join(path, ownerFile), JSON.stringify(owner), { mode: 0o600 });
  const touching = setInterval(() => {
    const now = new Date();
    utimes(join(path, ownerFile), now, now).catch(() => {}); // removed in the meantime
  }, touchMs).unref();
  return {
    path,
    async remove() {
      clearInterval(touching);
      await rm(path, { recursive: true, force: true });
    },
  };
}

export async function sweepScratch(parent: string, nowMs = Date.now()): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix)) continue;
    const path = join(parent, name);
    // Another user's folder cannot be removed, but that must not prevent a start.
    if (await isAbandoned(path, nowMs)) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

async function isAbandoned(path: string, nowMs: number): Promise<boolean> {
  const owner = await readOwner(path);
  if (owner?.space === space()) {
    const started = startedAt(owner.pid);
    return started === undefined || started !== owner.started;
  }
  const { mtimeMs } = await stat(owner ? join(path, ownerFile) : path).catch(() => ({ mtimeMs: nowMs }));
  return nowMs - mtimeMs >= abandonedMs;
}

async function readOwner(path: string): Promise<ScratchOwner | undefined> {
  try {
    return JSON.parse(await readFile(join(path, ownerFile), 'utf8')) as ScratchOwner;
  } catch {
    return undefined;
  }
}

// The boot and the process namespace if Linux has them, else the machine's name.
function space(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

// When a process of this space started, in a form that only compares; undefined if there is none. If it is not known, a
// process that reuses the pid is taken for the old one.
function startedAt(pid: number): string | undefined {
  if (!(pid > 0)) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined;
  }
  try {
    // The name of the program, in brackets, may contain spaces.
    // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[19]!;
  } catch {
    return '';
  }
}
