import type { Clock } from '@stak/kit';
import type { Insight } from '@stak/table';
import { type Column, columnsOf, signatureOf } from '../layers/columns.ts';
import { silverFormat } from '../layers/current-sql.ts';
import { goldNames, insightSignature, insightsOf } from '../layers/gold-names.ts';
import * as limits from '../limits.ts';
import { hasBronzeFormat } from '../storage/bronze-file.ts';
import type { ListedFile, State } from '../storage/manifest-state.ts';
import { keyPart, type ObjectStore } from '../storage/objects.ts';
import type { Plan } from '../tables.ts';
import { digestOf, type Source } from './metadata.ts';
import { createPublisher } from './publisher.ts';
import type { IcebergColumn, IcebergType } from './schema.ts';

// The lake's files as tables of Iceberg, with the rows of all owners, for engines that can read the folder or bucket.

const text = (...names: string[]): IcebergColumn[] => names.map(name => ({ name, type: 'string' }));

export const bronzeColumns: readonly IcebergColumn[] = [
  ...text('kind', 'key', 'sequence'),
  { name: 'generation', type: 'int' },
  ...text('shard', 'event_id'),
  { name: 'at', type: 'timestamp' },
  ...text('account_id', 'tenant_id', 'user_id', 'old', 'new'),
  { name: 'chained', type: 'boolean' },
];

const types: Record<Column['type'], IcebergType> = {
  VARCHAR: 'string',
  BIGINT: 'long',
  DOUBLE: 'double',
  BOOLEAN: 'boolean',
  JSON: 'string',
};

export const entityColumns = (columns: readonly Column[]): IcebergColumn[] =>
  columns.map(({ name, type }) => ({ name, type: types[type] }));

export const ownerColumns: readonly IcebergColumn[] = text('_account', '_tenant', '_user');

const silverColumns = (columns: readonly Column[]): IcebergColumn[] => [
  ...text('_key', '_kind'),
  { name: '_generation', type: 'int' },
  ...text('_sequence'),
  { name: '_at', type: 'timestamp' },
  ...ownerColumns,
  ...text('_image'),
  ...entityColumns(columns),
];

export const goldColumns = ({ groups, sums }: Insight): IcebergColumn[] => [
  ...text(...Object.keys(groups)),
  ...Object.keys(sums).map((name): IcebergColumn => ({ name, type: 'double' })),
];

// Names that every engine accepts without quotes.
export const tableName = (name: string): string => name.replace(/[^A-Za-z0-9_]/g, '_').toLowerCase();

// A table's files are in one folder, for all states of a file.
function sourcesOf(plan: Plan, insights: readonly Insight[], state: State): LakeSource[] {
  const { version, at } = state;
  const files = new Map<string, ListedFile[]>();
  for (const file of state.files.values()) {
    if (!hasBronzeFormat(file)) continue;
    const known = files.get(file.entity);
    if (known) known.push(file);
    else files.set(file.entity, [file]);
  }
  const sources: LakeSource[] = [];
  const add = (
    layer: string,
    name: string,
    data: string,
    about: Pick<LakeSource, 'columns' | 'files' | 'isStale'>,
  ) =>
    sources.push({
      folder: `iceberg/${layer}/${tableName(name)}`,
      data: `${layer}/table=${keyPart(plan.table.name)}/${data}/`,
      isByDay: layer === 'bronze',
      version,
      at,
      ...about,
    });
  for (const entity of new Set([...plan.entities.keys(), ...files.keys()])) {
    const about = plan.entities.get(entity);
    const name = about?.view ?? `${plan.table.name}_${entity}`;
    const data = `entity=${keyPart(entity)}`;
    add('bronze', name, data, { columns: bronzeColumns, files: files.get(entity) ?? [] });
    if (about) {
      const columns = columnsOf(about);
      const silver = state.silver[entity];
      // A file with outdated columns is left out: it is rewritten in a moment.
      const isStale = silver?.format !== silverFormat || silver.signature !== signatureOf(columns);
      const files = silver && !isStale ? [{ ...silver, commit: silver.through }] : [];
      add('silver', name, data, { columns: silverColumns(columns), files, isStale });
    }
    for (const insight of insightsOf({ plan }, entity, insights))
      for (const { name } of goldNames(insight)) {
        const { path, bytes, signature, through } = state.gold[name] ?? {};
        // After an erasure they have no signature, and are complete until they are computed again.
        const isStale = bytes === undefined || (signature !== '' && signature !== insightSignature(insight));
        add('gold', name, `insight=${keyPart(name)}`, {
          columns: [...ownerColumns, ...goldColumns(insight)],
          files: isStale ? [] : [{ path: path!, bytes, commit: through! }],
          isStale,
        });
      }
  }
  return sources;
}

type LakeSource = Source & { data: string; isStale?: boolean };
type Deps = {
  plan: Plan;
  objects: ObjectStore;
  clock: Clock;
  insights: readonly Insight[];
  everyMs?: number;
};
export type IcebergTables = ReturnType<typeof createIcebergTables>;

// Published at intervals, not at every commit.
export function createIcebergTables({ plan, objects, clock, insights, everyMs = limits.icebergMs }: Deps) {
  const publisher = createPublisher({ objects, clock });
  const known = new Map<string, string>(); // the files each table has
  let publishedAt = Number.NEGATIVE_INFINITY;
  let version = -1;
  let postponedUntil = Number.NEGATIVE_INFINITY;

  const isBehind = (state: State): boolean => state.version !== version && clock.now() >= postponedUntil;

  async function publishSource(
    source: LakeSource,
    garbage: State['garbage'],
    cutoffMs: number,
  ): Promise<void> {
    const digest = digestOf(source.files);
    // A table is created with its first row.
    if (source.files.length === 0 && !(await publisher.current(source.folder))) return;
    const times = garbage.filter(({ path }) => path.startsWith(source.data)).map(({ since }) => since);
    await publisher.publish(source, {
      cutoffMs,
      removedAt: afterMs =>
        times.filter(since => since >= afterMs).reduce((a, b) => Math.min(a, b), Infinity),
    });
    known.set(source.folder, digest);
  }

  return {
    isBehind,
    isDue: (state: State): boolean =>
      Number.isFinite(everyMs) && isBehind(state) && clock.now() - publishedAt >= everyMs,
    // Another process holds the lease, and publishes.
    postpone(): void {
      postponedUntil = clock.now() + limits.idleLookMs;
    },
    async publish(state: State): Promise<void> {
      const { version: through } = state;
      const garbage = [...state.garbage];
      publishedAt = clock.now();
      for (const source of sourcesOf(plan, insights, state)) {
        const isSame = (known.get(source.folder) ?? digestOf([])) === digestOf(source.files);
        if (!isSame && !source.isStale) await publishSource(source, garbage, Number.NEGATIVE_INFINITY);
      }
      version = through;
    },
    // Expires the snapshots that name files about to be deleted.
    async letGo(state: State, paths: readonly string[], cutoffMs: number): Promise<void> {
      const garbage = [...state.garbage];
      for (const source of sourcesOf(plan, insights, state))
        if (paths.some(path => path.startsWith(source.data))) await publishSource(source, garbage, cutoffMs);
    },
    // Deletes what killed writers left behind.
    async sweep(state: State): Promise<void> {
      for (const { folder } of sourcesOf(plan, insights, state)) await publisher.sweep(folder);
    },
  };
}
