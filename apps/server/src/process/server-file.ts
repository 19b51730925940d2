import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { isLoopback } from '../config/loopback.ts';

// Commands on the same machine read here where the server of a data folder listens. The file is written when the server
// starts, removed when it stops, and valid only while the process that wrote it runs.

const recordSchema = z.object({ url: z.url(), pid: z.int().positive(), began: z.string().optional() });
type ServerRecord = z.infer<typeof recordSchema>;

const fileIn = (folder: string): string => join(folder, 'server.json');

/** Records that this process serves the folder at `url`. Returns a function that removes the record. */
export function recordServer(folder: string, url: string): () => void {
  const record: ServerRecord = { url, pid: process.pid, began: beginningOf(process.pid) };
  const file = fileIn(folder);
  rmSync(file, { force: true }); // also removes a file with other permissions
  writeFileSync(file, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  return () => {
    if (readRecord(folder)?.pid === process.pid) rmSync(file, { force: true });
  };
}

/** The URL of a server on this machine that serves the folder, if there is one. */
export function findServer(folder: string): string | undefined {
  const record = readRecord(folder);
  return record && isOurs(folder) && isRunning(record) && isHere(record.url) ? record.url : undefined;
}

function readRecord(folder: string): ServerRecord | undefined {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(fileIn(folder), 'utf8')));
  } catch {
    return undefined; // missing, or not written by us
  }
}

// A folder from elsewhere, such as a checkout of another user, must not redirect tokens.
function isOurs(folder: string): boolean {
  const owner = process.getuid?.();
  return owner === undefined || owner === 0 || statSync(fileIn(folder)).uid === owner;
}

function isHere(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const address = hostname.replace(/^\[|\]$/g, '');
  const isOfThisMachine = () =>
    Object.values(networkInterfaces()).some(list => list?.some(entry => entry.address === address));
  return protocol === 'http:' && (isLoopback(hostname) || isOfThisMachine());
}

// Process ids are reused: after a reboot, or at once after the restart of a container.
function isRunning({ pid, began }: ServerRecord): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return began === beginningOf(pid);
}

// When a process started, in ticks since boot. Linux only.
function beginningOf(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '');
    return fields.split(' ')[19];
  } catch {
    return undefined;
  }
}
