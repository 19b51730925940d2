import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { isLoopback } from './loopback.ts';

// Where the server of a data folder listens, for the commands that are run beside it. It is written when the server
// serves, removed when it stops, and believed only while the process that wrote it runs.

const recordSchema = z.object({ url: z.url(), pid: z.int().positive(), began: z.string().optional() });
type ServerRecord = z.infer<typeof recordSchema>;

const fileIn = (folder: string): string => join(folder, 'server.json');

/** Writes down that this process serves the folder at `url`. Returns how to take it back. */
export function recordServer(folder: string, url: string): () => void {
  const record: ServerRecord = { url, pid: process.pid, began: beginningOf(process.pid) };
  const file = fileIn(folder);
  rmSync(file, { force: true }); // whatever its mode was
  writeFileSync(file, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  return () => {
    if (readRecord(folder)?.pid === process.pid) rmSync(file, { force: true });
  };
}

/** Where a server that runs on this machine serves the folder, if one does. */
export function findServer(folder: string): string | undefined {
  const record = readRecord(folder);
  return record && isOurs(folder) && isRunning(record) && isHere(record.url) ? record.url : undefined;
}

function readRecord(folder: string): ServerRecord | undefined {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(fileIn(folder), 'utf8')));
  } catch {
    return undefined; // none, or nothing that we wrote
  }
}

// A folder that came from elsewhere, like a checkout of somebody's, must not send tokens anywhere.
function isOurs(folder: string): boolean {
  const owner = process.getuid?.();
  return owner === undefined || owner === 0 || statSync(fileIn(folder)).uid === owner;
}

function isHere(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const address = hostname.replace(/^\[|\]$/g, '');
  const isOfThisMachine = () =>
    Object.values(networkInterfaces()).some(list => list?.some(one => one.address === address));
  return protocol === 'http:' && (isLoopback(hostname) || isOfThisMachine());
}

// Numbers of processes come again, after a restart of the machine or of a container at once.
function isRunning({ pid, began }: ServerRecord): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return began === beginningOf(pid);
}

// When a process began, in ticks since the machine did. Linux only.
function beginningOf(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '');
    return fields.split(' ')[19];
  } catch {
    return undefined;
  }
}
