import { type LagDeps, readLag } from '../capture/lag.ts';
import type { LakeTable } from '../lake-table.ts';
import type { State } from '../storage/manifest-state.ts';

export async function readTableStatus(deps: LagDeps, lakeTable: LakeTable) {
  const state = await lakeTable.manifest.read();
  const summary = summarise(lakeTable.plan.table.name, state);
  return { ...summary, ...(await readLag(deps, lakeTable.plan.table.name, state)) };
}

function summarise(table: string, state: State) {
  const files = [...state.files.values()];
  const silver = Object.entries(state.silver);
  return {
    table,
    commits: state.version,
    last_commit_at: state.version === 0 ? null : new Date(state.at).toISOString(),
    bronze_files: files.length,
    bronze_rows: sum(files.map(file => file.rows)),
    bytes: sum(files.map(file => file.bytes)) + sum(silver.map(([, file]) => file.bytes)),
    silver: silver.map(([entity, { rows, through }]) => ({ entity, rows, through_commit: through })),
    dead_letters: state.letters.length,
    backfill:
      state.backfill === undefined
        ? null
        : { segments: state.backfill.segments, finished: state.backfill.finished.length },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
