import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type Engine } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { folderObjects } from '@stak/lake/maintenance';
import { planRestore, restoreBackup } from '../../src/store/backup/restore.ts';
import { createShipper, type ShipperSettings } from '../../src/store/backup/shipper.ts';
import { engineBackup } from '../../src/store/backup/source.ts';
import type { Target, TargetObjects } from '../../src/store/backup/target.ts';

export const hourMs = 60 * 60_000;
export const newKey = (id: string) => ({ id, secret: new Uint8Array(randomBytes(32)) });
export const silent = { begin() {}, step() {} };

// Every look at it is a millisecond later, so that no two commits have the same time. It never waits.
function steppingClock() {
  let ms = Date.now();
  return {
    now: () => ++ms,
    pass: (more: number) => {
      ms += more;
    },
    sleep: async () => {},
    after: () => () => {},
  };
}

export type Fixture = Awaited<ReturnType<typeof createFixture>>;

// A store in a folder, a backup in another, and a shipper that works when it is asked to.
export async function createFixture(
  options: {
    objects?: TargetObjects;
    keys?: Target['keys'];
    settings?: Partial<ShipperSettings>;
    limitBytes?: number;
  } = {},
) {
  const root = await mkdtemp(join(tmpdir(), 'stak-backup-'));
  const path = join(root, 'data');
  const clock = steppingClock();
  const folder = join(root, 'backup');
  const target: Target = { objects: options.objects ?? folderObjects(folder), keys: options.keys ?? [] };
  const opened: Engine[] = [];
  const open = async (at: string, readOnly = false) => {
    const engine = await createEngine({ path: at, sweepIntervalMs: 0, clock, readOnly });
    opened.push(engine);
    return engine;
  };
  const engine = await open(path);
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: line => void lines.push(line) } });
  const settings = { everyMs: 500, snapshotMs: 6 * hourMs, keepMs: 24 * hourMs, secretKeyIds: ['k1'] };
  const shipperOf = (store: Engine, at: string) =>
    createShipper({
      source: engineBackup(at, store, () =>
        store.journal.begin({ limitBytes: options.limitBytes ?? 1024 ** 3 }),
      ),
      target,
      clock,
      log,
      settings: { ...settings, ...options.settings },
    });
  let restores = 0;
  return {
    root,
    path,
    folder,
    clock,
    engine,
    open,
    target,
    lines,
    shipper: shipperOf(engine, path),
    shipperOf,
    signal: new AbortController().signal,
    nextFolder: () => join(root, `restored-${++restores}`),
    async restore(untilMs?: number, from: Target = target): Promise<Engine> {
      const to = this.nextFolder();
      await restoreBackup(from, await planRestore(from, untilMs), to, silent);
      return open(to, true);
    },
    async close(): Promise<void> {
      for (const one of opened) await one.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}
