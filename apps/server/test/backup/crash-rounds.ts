import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEngine } from '@stak/engine';
import { seededRandom } from '@stak/kit';
import { folderObjects } from '@stak/lake/maintenance';
import { planRestore, restoreBackup } from '../../src/store/backup/restore.ts';
import { silent } from './backup-fixture.ts';
import { createTables, readLast, type Told, verify, writersPerProcess } from './crash-model.ts';

// Round after round: processes write to a store and ship it; all are killed, the folder is deleted, the store is restored
// from the backup, and compared with what was promised. The next round goes on with what was restored.

export type Campaign = {
  root: string;
  rounds: number;
  seed: number;
  processes: number;
  longestMs: number; // of load, in one round
  log(line: string): void;
};
export type Outcome = { violations: string[]; operations: number; lost: number; worstLossMs: number };

const programOf = (name: string): string[] =>
  process.env.VITEST === 'true'
    ? [fileURLToPath(new URL(`../../../.test/dist/${name}.mjs`, import.meta.url))]
    : ['--import', 'tsx', fileURLToPath(new URL(`${name}.ts`, import.meta.url))];

export async function runRounds({
  root,
  rounds,
  seed,
  processes,
  longestMs,
  log,
}: Campaign): Promise<Outcome> {
  const random = seededRandom(seed);
  const outcome: Outcome = { violations: [], operations: 0, lost: 0, worstLossMs: 0 };
  const path = join(root, 'data');
  const location = { kind: 'folder' as const, folder: join(root, 'backup') };
  const key = { id: 'b1', secret: randomBytes(32).toString('base64') };
  const target = {
    objects: folderObjects(location.folder),
    keys: [{ id: key.id, secret: new Uint8Array(Buffer.from(key.secret, 'base64')) }],
  };
  let last = await begin(path, processes * writersPerProcess);
  for (let round = 1; round <= rounds && outcome.violations.length === 0; round++) {
    const setup = { path, location, keys: [key], starts: last, snapshotMs: 1500 };
    const acknowledged: { writer: number; n: number; at: number }[] = [];
    let promised = 0;
    let isReady = () => {};
    let hasEnded = (_: Error) => {};
    const ready = new Promise<void>((resolve, reject) => {
      isReady = resolve;
      hasEnded = reject;
    });
    const children = Array.from({ length: processes }, (_, number) => {
      const child = startChild({ ...setup, number });
      child.on('message', (told: Told) => {
        if (told.kind === 'done') return void acknowledged.push(told);
        promised = Math.max(promised, told.until);
        if (told.hasSnapshot) isReady();
      });
      child.once('exit', code =>
        hasEnded(new Error(`a writer ended with ${code} before the first snapshot`)),
      );
      return child;
    });
    await ready.catch(error => {
      for (const child of children) child.kill('SIGKILL');
      throw error;
    });
    for (const child of children) child.send('write');
    await new Promise(resolve => setTimeout(resolve, random() * longestMs));
    const killedAt = Date.now();
    await Promise.all(children.map(kill));
    await rm(path, { recursive: true });
    await restoreBackup(target, await planRestore(target), path, silent);

    const engine = await createEngine({ path, sweepIntervalMs: 0 });
    const restored = await readLast(engine, last.length);
    const problems = await verify(engine, restored);
    await engine.close();
    const lost = acknowledged.filter(({ writer, n }) => n > restored[writer]!);
    const broken = lost.filter(({ at }) => at < promised);
    const lossMs = lost.length === 0 ? 0 : killedAt - Math.min(...lost.map(({ at }) => at));
    outcome.violations.push(...problems, ...broken.map(one => `promised and lost: ${JSON.stringify(one)}`));
    outcome.operations += acknowledged.length;
    outcome.lost += lost.length;
    outcome.worstLossMs = Math.max(outcome.worstLossMs, lossMs);
    log(
      `round ${round}: ${acknowledged.length} acknowledged, ${lost.length} lost of the last ${lossMs} ms, ${problems.length + broken.length} violations`,
    );
    last = restored;
  }
  return outcome;
}

async function begin(path: string, writers: number): Promise<number[]> {
  const engine = await createEngine({ path, sweepIntervalMs: 0 });
  await createTables(engine);
  await engine.close();
  return Array.from({ length: writers }, () => 0);
}

function startChild(setup: object): ChildProcess {
  const program = programOf('backup-process');
  return fork(program.at(-1)!, [JSON.stringify(setup)], { execArgv: program.slice(0, -1) });
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
