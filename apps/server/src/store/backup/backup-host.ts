import { join, resolve } from 'node:path';
import { Worker as Thread } from 'node:worker_threads';
import type { Engine, JournalPosition } from '@stak/engine';
import type { Clock, Logger, Worker } from '@stak/kit';
import type { LogLevel, ObjectsConfig, ServerConfig } from '../../config/config.ts';
import type { SecretKey } from '../../config/secrets.ts';
import type { Database } from '../database.ts';
import type { ObjectsLocation } from '../lake/lake-objects.ts';
import { relayLine } from '../thread-log.ts';
import * as limits from './limits.ts';
import type { ShipperSettings, ShipperState } from './shipper.ts';

// One of all processes that have the store open ships the backup: the one that holds the claim. A thread does the work,
// because compression and encryption would delay requests. It only reads the store; this one writes for it.

export type BackupThreadSettings = {
  path: string;
  location: ObjectsLocation;
  keys: readonly SecretKey[];
  settings: ShipperSettings;
  logLevel: LogLevel;
};

export type FromBackupThread =
  | { kind: 'log'; line: string }
  | { kind: 'begin' }
  | { kind: 'report'; state: ShipperState };
export type ToBackupThread =
  | { kind: 'begun'; position?: JournalPosition; failure?: string }
  | { kind: 'stop' };

export type BackupStore = Pick<Engine, 'journal' | 'claim'>;

export type BackupState = ShipperState & { lagMs: number };

export type BackupHost = {
  worker: Worker;
  // Undefined while another process ships.
  state(): BackupState | undefined;
  check(): Promise<'degraded' | undefined>;
};

export type BackupHostDeps = {
  thread: BackupThreadSettings;
  store: BackupStore;
  journalBytes: number;
  clock: Clock;
  log: Logger;
};

const heapMb = 256; // a few segments, plain, compressed and encrypted
const youngMb = 16;
const stopMs = 8_000; // to ship the last commits
const standbyMs = 2_000;

// From the bundle, or from the sources with a loader.
const program = new URL(
  import.meta.url.endsWith('.ts') ? '../../../bin/backup-thread.mjs' : './backup-thread.mjs',
  import.meta.url,
);

export function createBackupHost({ thread, store, journalBytes, clock, log }: BackupHostDeps): BackupHost {
  let state: ShipperState | undefined;
  let startedAt = 0;

  async function receive(from: Thread, message: FromBackupThread): Promise<void> {
    if (message.kind === 'log') return relayLine(log, message.line);
    if (message.kind === 'report') {
      state = message.state;
      return;
    }
    const answer: ToBackupThread = await store.journal.begin({ limitBytes: journalBytes }).then(
      position => ({ kind: 'begun', position }),
      error => ({ kind: 'begun', failure: (error as Error).message }),
    );
    from.postMessage(answer);
  }

  const hold = () => store.claim('backup', limits.claimMs);

  async function run(signal: AbortSignal): Promise<void> {
    while (!(await hold())) await clock.sleep(standbyMs, signal);
    const position = await store.journal.position();
    if (position && position.limitBytes !== journalBytes) await store.journal.setLimit(journalBytes);
    const started = new Thread(program, {
      workerData: thread,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: youngMb },
    });
    startedAt = clock.now();
    const stop = () => {
      started.postMessage({ kind: 'stop' } satisfies ToBackupThread);
      const deadline = setTimeout(() => void started.terminate(), stopMs);
      started.once('exit', () => clearTimeout(deadline));
    };
    const ended = new Promise<void>((resolve, reject) => {
      started.once('error', reject);
      started.once('exit', code =>
        code === 0 || signal.aborted ? resolve() : reject(new Error(`the thread ended with ${code}`)),
      );
    });
    started.on('message', (message: FromBackupThread) => void receive(started, message));
    const renewing = setInterval(() => {
      hold().then(
        isHeld => isHeld || stop(),
        error => log.warn({ err: error }, 'the claim to the backup was not renewed'),
      );
    }, limits.claimAgainMs);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await ended;
    } finally {
      clearInterval(renewing);
      signal.removeEventListener('abort', stop);
      state = undefined;
    }
  }

  return {
    worker: { name: 'backup', run },
    state: () => state && { ...state, lagMs: clock.now() - state.shippedUntil },
    // Requests are served all the same.
    async check() {
      if (!state) return undefined;
      return clock.now() - Math.max(state.shippedUntil, startedAt) > limits.degradedMs
        ? 'degraded'
        : undefined;
    },
  };
}

type ComposeDeps = { clock: Clock; log: Logger; keys: readonly SecretKey[] };

// Undefined if no backup is configured.
export async function startBackup(
  { embedded: store }: Pick<Database, 'embedded'>,
  { backup, store: location, logLevel, secretKeys }: ServerConfig,
  { clock, log, keys }: ComposeDeps,
): Promise<BackupHost | undefined> {
  if (!store || location.kind !== 'embedded' || location.path === ':memory:') return undefined;
  const path = resolve(location.path);
  if (!backup) {
    await endShipping(store);
    return undefined;
  }
  if (!secretKeys)
    log.warn(
      { file: join(path, 'secret-key') },
      'the backup does not hold the secret-key of the folder, without which nothing sealed opens: keep a copy of it, or set STAK_SECRET_KEYS',
    );
  const { location: target, keys: backupKeys, everyMs, snapshotMs, keepMs, journalBytes } = backup;
  const thread: BackupThreadSettings = {
    path,
    location: objectsLocation(target),
    keys: backupKeys,
    settings: { everyMs, snapshotMs, keepMs, secretKeyIds: keys.map(({ id }) => id) },
    logLevel,
  };
  return createBackupHost({ thread, store, journalBytes, clock, log });
}

// A backup does not cache objects.
export const objectsLocation = (location: ObjectsConfig): ObjectsLocation =>
  location.kind === 's3' ? { ...location, cache: '' } : { kind: 'folder', folder: resolve(location.path) };

// Without a backup, the store keeps nothing to be shipped.
async function endShipping(store: BackupStore): Promise<void> {
  if (await store.journal.position()) await store.journal.end();
}
