import { quoteName, quoteText, readFiles } from '../duckdb/sql-text.ts';
import type { Column } from './columns.ts';

// The current state of an entity as SQL: silver with the changes since.

export type CurrentSources = {
  columns: readonly Column[];
  silver: { path: string; isFlat: boolean } | undefined; // flat: with exactly these columns
  recent: readonly string[];
  // Items that neither a scan nor the stream has mentioned since this backfill are gone.
  generation: number;
};

// Columns of every row, in addition to those of its entity.
const systemColumns = [
  '_key',
  '_kind',
  '_generation',
  '_sequence',
  '_at',
  '_account',
  '_tenant',
  '_user',
  '_image',
] as const;

const newestFirst = '_generation desc, length(_sequence) desc, _sequence desc';
const isNewer = (a: string, b: string) =>
  `(${a}._generation, length(${a}._sequence), ${a}._sequence) > (${b}._generation, length(${b}._sequence), ${b}._sequence)`;

export const isPresent = `_kind in ('insert', 'modify', 'snapshot')`;

const isAlive = (generation: number): string => `(not (${isPresent}) or _generation >= ${generation})`;

const newestOf = (rows: string): string =>
  `select * from (${rows}) qualify row_number() over (partition by _key order by ${newestFirst}) = 1`;

const structureOf = (columns: readonly Column[]): string =>
  quoteText(JSON.stringify(Object.fromEntries(columns.map(({ name, type }) => [name, type]))));

const names = (columns: readonly Column[]): string =>
  [...systemColumns, ...columns.map(({ name }) => quoteName(name))].join(', ');

// Lists and objects are text in silver's files: Parquet's JSON type is supported by few readers.
export const silverFormat = 2;
const jsonAs = (type: 'varchar' | 'json', columns: readonly Column[]): string => {
  const some = columns.filter(column => column.type === 'JSON').map(({ name }) => quoteName(name));
  return some.length === 0
    ? '*'
    : `* replace (${some.map(name => `${name}::${type} as ${name}`).join(', ')})`;
};
export const silverRows = (rows: string, columns: readonly Column[]): string =>
  `select ${jsonAs('varchar', columns)} from (${flatten(rows, columns)})`;

// Adds the entity's columns to rows that have its image.
export function flatten(rows: string, columns: readonly Column[]): string {
  if (columns.length === 0) return `select ${names([])} from (${rows})`;
  const fields = columns.map(({ name }) => `_fields.${quoteName(name)} as ${quoteName(name)}`);
  return `select ${[...systemColumns, ...fields].join(', ')} from (
    select *, json_transform(_image, ${structureOf(columns)}) as _fields from (${rows}))`;
}

export const changeRows = (paths: readonly string[]): string => `
  select key as _key, kind as _kind, generation as _generation, sequence as _sequence, "at" as _at,
    account_id as _account, tenant_id as _tenant, user_id as _user, coalesce("new", "old") as _image
  from ${readFiles(paths)}`;

// Every item that was not forgotten, including removed ones, with the kind of their last change. `scope` is a condition
// on the owner's columns, applied to each row.
export function currentRows(sources: CurrentSources, scope = 'true'): string {
  const { columns, silver, recent, generation } = sources;
  const settled =
    silver &&
    (silver.isFlat
      ? `select ${jsonAs('json', columns)} from (select ${names(columns)} from ${readFiles([silver.path])})`
      : flatten(`from ${readFiles([silver.path])}`, columns));
  if (recent.length === 0)
    return `select * from (${settled ?? nothing(columns)}) where (${scope}) and ${isAlive(generation)}`;
  const newest = newestOf(changeRows(recent));
  if (!settled)
    return `select * from (${flatten(newest, columns)}) where (${scope}) and ${isAlive(generation)}`;
  // The newest of the recent changes may still be older than silver, if it was redriven or found by a scan.
  return `
    with newest as materialized (${newest}),
    winners as materialized (
      select newest.* from newest left join (select _key, _generation, _sequence from ${readFiles([silver!.path])}) as settled
      using (_key) where settled._key is null or ${isNewer('newest', 'settled')})
    select * from (
      select * from (${settled}) where _key not in (select _key from winners)
      union all by name
      ${flatten('from winners', columns)}
    ) where (${scope}) and ${isAlive(generation)}`;
}

// The same for all owners, with the system columns only: the entity's attributes are in the image. Works for any number
// of rows: window functions spill to the disk, the joins above do not.
export function currentImages({ silver, recent, generation }: CurrentSources): string {
  const rows = [
    ...(silver ? [`select ${names([])} from ${readFiles([silver.path])}`] : []),
    ...(recent.length > 0 ? [changeRows(recent)] : []),
  ];
  const all = rows.join(' union all by name ') || nothing([]);
  const isAlone = recent.length === 0; // silver has each key once
  return `select * from (${isAlone ? all : newestOf(all)}) where ${isAlive(generation)}`;
}

const nothing = (columns: readonly Column[]): string =>
  `select ${[
    `null::varchar as _key`,
    `null::varchar as _kind`,
    `null::integer as _generation`,
    `null::varchar as _sequence`,
    `null::timestamp as _at`,
    `null::varchar as _account`,
    `null::varchar as _tenant`,
    `null::varchar as _user`,
    `null::varchar as _image`,
    ...columns.map(({ name, type }) => `null::${type} as ${quoteName(name)}`),
  ].join(', ')} where false`;
