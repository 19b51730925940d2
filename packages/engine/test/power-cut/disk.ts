import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { observeFlushes } from '../../src/storage/disk.ts';
import type { Random } from '../crash/random.ts';

// What a disk may hold after a power failure. Files are known by their inode, because they are renamed. Content that
// was there when a completed flush began is on the disk. Each block that was written since may be there in any of its
// versions, or in part; each new, renamed or removed name may be there or not, unless its folder was flushed.

type Names = Map<string, number>; // within a folder
type Content = { flushed: Buffer; since: Buffer[] };
type Version = { content: Buffer; moment: number };

/** The state of the disk at one moment. */
export type DiskState = {
  names: Map<string, { flushed: Names; current: Names }>;
  files: Map<number, Content>;
};

const blockBytes = 4096;
const sectorBytes = 512;
const nothing = Buffer.alloc(0);

// Sockets and LMDB's lock file mean nothing after a restart.
const isKept = (name: string): boolean => name !== 'processes' && !name.endsWith('-lock');

function namesIn(folder: string): Names {
  const names: Names = new Map();
  for (const name of readdirSync(folder).filter(isKept)) names.set(name, lstatSync(join(folder, name)).ino);
  return names;
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return nothing;
  }
}

/** Records the flushes in a store's folder. `onFlush` is called when one begins and when it has ended. */
export function recordDisk(folder: string, onFlush: () => void) {
  const folders = [folder, join(folder, 'journal')];
  const flushedNames = new Map<string, { names: Names; moment: number }>();
  const flushed = new Map<number, Version>();
  const versions = new Map<number, Version[]>();
  let moment = 0;

  function keep(inode: number, content: Buffer): Version {
    const version = { content, moment: ++moment };
    versions.set(inode, [...(versions.get(inode) ?? []), version]);
    return version;
  }

  observeFlushes(path => {
    if (!path.startsWith(folder)) return () => {};
    const { ino } = lstatSync(path);
    if (folders.includes(path)) {
      const begun = { names: namesIn(path), moment: ++moment };
      onFlush();
      return () => {
        if (begun.moment > (flushedNames.get(path)?.moment ?? 0)) flushedNames.set(path, begun);
        onFlush();
      };
    }
    const begun = keep(ino, readFileSync(path));
    onFlush();
    return () => {
      // One that began later may have ended already.
      if (begun.moment > (flushed.get(ino)?.moment ?? 0)) flushed.set(ino, begun);
      const later = versions.get(ino)!.filter(version => version.moment > begun.moment);
      versions.set(ino, later);
      onFlush();
    };
  });

  // Blocks may reach the disk at any time, so what a file holds between two flushes matters as well.
  function look(path: string): void {
    const { ino } = lstatSync(path);
    if ((versions.get(ino) ?? []).length < 4) keep(ino, readFileSync(path));
  }

  function capture(): DiskState {
    const state: DiskState = { names: new Map(), files: new Map() };
    for (const path of folders) {
      const current = namesIn(path);
      state.names.set(path.slice(folder.length), {
        flushed: flushedNames.get(path)?.names ?? new Map(),
        current,
      });
      for (const [name, inode] of current) {
        if (folders.includes(join(path, name))) continue;
        keep(inode, readIfThere(join(path, name)));
      }
    }
    for (const inode of new Set([...flushed.keys(), ...versions.keys()]))
      state.files.set(inode, {
        flushed: flushed.get(inode)?.content ?? nothing,
        since: (versions.get(inode) ?? []).map(({ content }) => content),
      });
    return state;
  }

  return { look, capture, stop: () => observeFlushes(() => () => {}) };
}

/** Writes one of the states that a power failure could have left into a new folder. */
export function writeState({ names, files }: DiskState, random: Random, to: string): void {
  for (const [path, { flushed, current }] of names) {
    for (const [name, inode] of survivingNames(flushed, current, random)) {
      const content = files.get(inode);
      const file = join(to, path, name);
      mkdirSync(dirname(file), { recursive: true });
      if (content) writeFileSync(file, survivingContent(content, random));
      else mkdirSync(file, { recursive: true });
    }
  }
}

function survivingNames(flushed: Names, current: Names, random: Random): Names {
  const names = new Map(flushed);
  const before = new Map([...flushed].map(([name, inode]) => [inode, name]));
  const now = new Map([...current].map(([name, inode]) => [inode, name]));
  for (const [inode, name] of now) {
    const old = before.get(inode);
    if (old === name || random.below(2) === 0) continue;
    if (old !== undefined && names.get(old) === inode) names.delete(old);
    names.set(name, inode);
  }
  // Another file may have taken the name: then it was never free.
  for (const [inode, name] of before)
    if (!now.has(inode) && !current.has(name) && random.below(2) === 0) names.delete(name);
  return names;
}

// In some states nearly all has reached the disk, in some nearly nothing, and in most a part.
function survivingContent({ flushed, since }: Content, random: Random): Buffer {
  const size = Math.max(flushed.length, ...since.map(one => one.length));
  const share = random.pick([0, 1, 5, 9, 10]);
  const disk = Buffer.alloc(size);
  flushed.copy(disk);
  let end = flushed.length;
  for (let at = 0; at < size; at += blockBytes) {
    if (since.length === 0 || random.below(10) >= share) continue;
    const isTorn = random.below(10) === 0;
    const step = isTorn ? sectorBytes : blockBytes;
    const version = random.pick(since);
    for (let part = at; part < at + blockBytes; part += step) {
      const source = isTorn && random.below(2) ? random.pick(since) : version;
      if ((isTorn && random.below(2)) || part >= source.length) continue;
      source.copy(disk, part, part, Math.min(part + step, source.length));
      end = Math.max(end, Math.min(part + step, source.length));
    }
  }
  return disk.subarray(0, end);
}
