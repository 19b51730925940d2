import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { observeFlushes } from '../../src/storage/disk.ts';
import type { Random } from '../crash/random.ts';

// Simulates what a disk may hold after a power failure. Content that was there when a completed flush began is on the
// disk. Each block that was written since may be there in any of its versions, or in part; each new, renamed or removed
// name may be there or not, unless its folder was flushed. Files are known by their inode, because they are renamed,
// and by the time they were made, because the inode of a removed file is used again.

type Names = Map<string, string>; // within a folder, to the identity of a file
type Content = { flushed: Buffer; since: Buffer[] };
type Version = { content: Buffer; moment: number };

/** The state of the disk at one moment. */
export type DiskState = {
  names: Map<string, { flushed: Names; current: Names }>;
  files: Map<string, Content>;
};

const blockBytes = 4096;
const sectorBytes = 512;
const nothing = Buffer.alloc(0);

// Sockets and LMDB's lock file mean nothing after a restart.
const isKept = (name: string): boolean => name !== 'processes' && !name.endsWith('-lock');

function identify(path: string): string {
  const { ino, birthtimeNs } = lstatSync(path, { bigint: true });
  return `${ino} ${birthtimeNs}`;
}

function namesIn(folder: string): Names {
  const names: Names = new Map();
  if (!existsSync(folder)) return names;
  for (const name of readdirSync(folder).filter(isKept)) names.set(name, identify(join(folder, name)));
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
  const folders = [folder, join(folder, 'journal'), join(folder, 'history')];
  const flushedNames = new Map<string, { names: Names; moment: number }>();
  const flushed = new Map<string, Version>();
  const versions = new Map<string, Version[]>();
  let moment = 0;

  function keep(file: string, content: Buffer): Version {
    const version = { content, moment: ++moment };
    versions.set(file, [...(versions.get(file) ?? []), version]);
    return version;
  }

  observeFlushes(path => {
    if (!path.startsWith(folder)) return () => {};
    const file = identify(path);
    if (folders.includes(path)) {
      const begun = { names: namesIn(path), moment: ++moment };
      onFlush();
      return () => {
        if (begun.moment > (flushedNames.get(path)?.moment ?? 0)) flushedNames.set(path, begun);
        onFlush();
      };
    }
    const begun = keep(file, readFileSync(path));
    onFlush();
    return () => {
      // One that began later may have ended already.
      if (begun.moment > (flushed.get(file)?.moment ?? 0)) flushed.set(file, begun);
      const later = versions.get(file)!.filter(version => version.moment > begun.moment);
      versions.set(file, later);
      onFlush();
    };
  });

  // Blocks may reach the disk at any time, so what a file holds between two flushes matters as well.
  function look(path: string): void {
    const file = identify(path);
    if ((versions.get(file) ?? []).length < 4) keep(file, readFileSync(path));
  }

  function capture(): DiskState {
    const state: DiskState = { names: new Map(), files: new Map() };
    for (const path of folders) {
      const current = namesIn(path);
      state.names.set(path.slice(folder.length), {
        flushed: flushedNames.get(path)?.names ?? new Map(),
        current,
      });
      for (const [name, file] of current) {
        if (folders.includes(join(path, name))) continue;
        keep(file, readIfThere(join(path, name)));
      }
    }
    for (const file of new Set([...flushed.keys(), ...versions.keys()]))
      state.files.set(file, {
        flushed: flushed.get(file)?.content ?? nothing,
        since: (versions.get(file) ?? []).map(({ content }) => content),
      });
    return state;
  }

  return { look, capture, stop: () => observeFlushes(() => () => {}) };
}

/** Writes one of the states that a power failure could have left into a new folder. */
export function writeState({ names, files }: DiskState, random: Random, to: string): void {
  for (const [path, { flushed, current }] of names) {
    for (const [name, file] of survivingNames(flushed, current, random)) {
      const content = files.get(file);
      const copy = join(to, path, name);
      mkdirSync(dirname(copy), { recursive: true });
      if (content) writeFileSync(copy, survivingContent(content, random));
      else mkdirSync(copy, { recursive: true });
    }
  }
}

function survivingNames(flushed: Names, current: Names, random: Random): Names {
  const names = new Map(flushed);
  const before = new Map([...flushed].map(([name, file]) => [file, name]));
  const now = new Map([...current].map(([name, file]) => [file, name]));
  for (const [file, name] of now) {
    const old = before.get(file);
    if (old === name || random.below(2) === 0) continue;
    if (old !== undefined && names.get(old) === file) names.delete(old);
    names.set(name, file);
  }
  // Another file may have taken the name: then it was never free.
  for (const [file, name] of before)
    if (!now.has(file) && !current.has(name) && random.below(2) === 0) names.delete(name);
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
