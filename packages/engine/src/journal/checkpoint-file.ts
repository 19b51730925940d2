import { closeSync, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { bootId } from '../storage/boot-id.ts';
import { flushFile, flushFileSync } from '../storage/disk.ts';
import { fileMode } from '../storage/file.ts';
import type { MetaPage } from '../storage/meta-page.ts';
import type { JournalEnd } from './position.ts';

// A checkpoint names a state of the store whose pages are on the disk, and where the journal continues from it. The
// file is replaced as a whole. It also says when and where the store was last written: after another start of the
// machine, or in a copy, the store file itself may be torn.

export type Checkpoint = {
  id: string; // of the store
  txn: number;
  meta: string; // the page of LMDB that describes the state, in base64
  journal: JournalEnd;
  recoveries: number; // how often the journal was applied after a power failure
  boot: string;
  device: string;
  inode: string;
};

const fileName = 'checkpoint';
const version = 1;

export function encodeCheckpoint(checkpoint: Checkpoint): string {
  const text = JSON.stringify({ version, ...checkpoint });
  return `${text}\n${crc32(text).toString(16)}\n`;
}

export function readCheckpoint(folder: string): Checkpoint | undefined {
  try {
    const [text = '', sum] = readFileSync(join(folder, fileName), 'utf8').split('\n');
    if (crc32(text).toString(16) !== sum) return undefined;
    const checkpoint = JSON.parse(text) as Checkpoint & { version: number };
    return checkpoint.version === version ? checkpoint : undefined;
  } catch {
    return undefined;
  }
}

export function removeCheckpoint(folder: string): void {
  rmSync(join(folder, fileName), { force: true });
}

// Tells where and when the store file is used now.
function locate(handle: number): Pick<Checkpoint, 'boot' | 'device' | 'inode'> {
  const { dev, ino } = fstatSync(handle, { bigint: true });
  return { boot: bootId() ?? '', device: String(dev), inode: String(ino) };
}

type Described = Pick<Checkpoint, 'id' | 'recoveries' | 'journal'> & { page: MetaPage };

export function describe(
  handle: number,
  { page: { txn, bytes }, id, recoveries, journal }: Described,
): Checkpoint {
  return { id, txn, meta: bytes.toString('base64'), journal, recoveries, ...locate(handle) };
}

// Whether what was written after the checkpoint is still as it was written.
export function isIntact({ boot, device, inode }: Checkpoint, handle: number): boolean {
  const now = locate(handle);
  return now.boot === boot && now.device === device && now.inode === inode;
}

let drafts = 0;

// The content is on the disk before the file gets its name.
export async function writeDraft(folder: string, checkpoint: Checkpoint): Promise<string> {
  const { draft, handle } = openDraft(folder, checkpoint);
  try {
    await flushFile(handle, draft);
    return draft;
  } finally {
    closeSync(handle);
  }
}

export function writeDraftSync(folder: string, checkpoint: Checkpoint): string {
  const { draft, handle } = openDraft(folder, checkpoint);
  try {
    flushFileSync(handle, draft);
    return draft;
  } finally {
    closeSync(handle);
  }
}

function openDraft(folder: string, checkpoint: Checkpoint): { draft: string; handle: number } {
  const draft = join(folder, `${fileName}-${process.pid}-${drafts++}`);
  try {
    writeFileSync(draft, encodeCheckpoint(checkpoint), { mode: fileMode });
    return { draft, handle: openSync(draft, 'r+') };
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

export const publishDraft = (folder: string, draft: string): void =>
  renameSync(draft, join(folder, fileName));
