import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileMode } from '../storage/file.ts';
import type { JournalCursor, JournalEnd, Shipping } from './position.ts';

// The files of the journal are numbered. One that is not needed any more becomes a later one and is overwritten in
// place: flushing a file whose blocks exist takes half as long as flushing one that grows. Its old records cannot be
// mistaken for new ones, because each record continues the checksum of the one before.

const readyFiles = 16; // what is written between two checkpoints, at most

export const journalFolder = (path: string): string => join(path, 'journal');
export const journalFile = (folder: string, file: number): string =>
  join(folder, `${String(file).padStart(8, '0')}.log`);

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

const fileShape = /^(\d{8})\.log$/;

export const listFiles = (folder: string): number[] =>
  namesIn(folder)
    .flatMap(name => fileShape.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);

export function removeFiles(folder: string): void {
  for (const file of listFiles(folder)) rmSync(journalFile(folder, file), { force: true });
}

// Called while no process can write: another one may need a name that looks free.
export function recycleFiles(folder: string, fileBytes: number, needed: number, current: number): void {
  const files = listFiles(folder);
  let last = Math.max(current, files.at(-1) ?? 0);
  let ready = files.filter(file => file > current).length;
  for (const file of files.filter(number => number < Math.min(needed, current))) {
    const name = journalFile(folder, file);
    const bytes = statSync(name).size;
    if (ready < readyFiles && bytes >= fileBytes && bytes <= 2 * fileBytes) {
      renameSync(name, journalFile(folder, ++last));
      ready++;
    } else rmSync(name, { force: true });
  }
}

// How far a backup has shipped the journal. If this note is lost, files are kept a little longer.
const shippedFile = (folder: string): string => join(folder, 'shipped');

/** Notes that the files of a store's journal before the cursor are shipped, so that they can be used again. */
export function noteShipped(path: string, { history, file }: JournalCursor): void {
  writeFileSync(shippedFile(journalFolder(path)), `${history} ${file}`, { mode: fileMode });
}

function readShippedFile(folder: string, history: string): number {
  try {
    const [noted, file] = readFileSync(shippedFile(folder), 'utf8').split(' ');
    return noted === history ? Number(file) || 0 : 0;
  } catch {
    return 0;
  }
}

// The first file that a backup needs. A backup that is behind by more than its limit has to start again.
export function firstUnshipped(
  folder: string,
  fileBytes: number,
  { start, limitBytes }: Shipping,
  { file: current }: Pick<JournalEnd, 'file'>,
): number {
  const first = Math.max(start.file, readShippedFile(folder, start.history));
  return (current - first) * fileBytes > limitBytes ? current : first;
}
