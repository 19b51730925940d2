import { createHash } from 'node:crypto';
import { profile } from '@stak/accounts/tables';
import { type AnyTable, type Attributes, createStore, entityOf } from '@stak/table';
import { UsageError } from '../../config/errors.ts';
import { accountTables } from './account.ts';
import { hasExpired } from './export.ts';
import type { Manifest } from './format.ts';
import { eachItem, type ImportOptions, keyIn, readBatch } from './import.ts';
import { type Keep, keepOfProfile, ruleOf } from './keep.ts';
import { type Claims, createOwnership, noteClaim, openClaims } from './ownership.ts';

// Selects the items to import from an archive of accounts. All are checked before the first one is written.

export type SelectionOptions = Pick<ImportOptions, 'client' | 'clock' | 'folder' | 'progress'> & {
  keep?: ReadonlySet<Keep>; // what the operator vouches for
  isVerified?: boolean; // this server made the archive
};

export type Selection = {
  take(table: AnyTable, batch: readonly Attributes[]): Attributes[];
  readonly count: number;
  readonly leftOut: ReadonlyMap<string, number>; // how many, by name
};

const named = 10; // refused items listed in the error

export async function selectItems(options: SelectionOptions, manifest: Manifest): Promise<Selection> {
  const { keep = new Set(), isVerified = false, client, clock } = options;
  const all = { ...options, tables: accountTables };
  const claims = openClaims(manifest.accounts ?? []);
  await eachItem(all, manifest, { what: 'Looking at', size: readBatch }, async (table, batch) => {
    for (const item of batch) noteClaim(claims, table, item);
  });
  requireProfiles(claims, keep);

  const nowMs = clock.now();
  const importedAt = new Date(nowMs).toISOString();
  const ownership = createOwnership(claims, { client, clock, store: createStore({ client, clock }) });
  const leftOut = new Map<string, number>();
  const countLeftOut = (name: string) => leftOut.set(name, (leftOut.get(name) ?? 0) + 1);
  const isKept = (table: AnyTable, item: Attributes): boolean => {
    const entity = entityOf(table, item);
    const rule = entity && ruleOf(entity);
    return rule === 'data' || (rule === 'records' ? isVerified : rule !== undefined && keep.has(rule));
  };
  const refused: string[] = [];
  const seen = new Set<string>();
  const outside = new Set<string>();
  let count = 0;
  await eachItem(all, manifest, { what: 'Checking', size: readBatch }, async (table, batch) => {
    await Promise.all(
      batch.map(async item => {
        const id = idOf(table, item);
        const isTwice = seen.has(id);
        seen.add(id);
        if (hasExpired(table, item, nowMs)) return;
        const verdict = await ownership.judge(table, item, isKept(table, item));
        if (verdict.kind === 'refused') refused.push(`${nameOf(table, item)} ${verdict.why}`);
        else if (isTwice) refused.push(`${nameOf(table, item)} is there twice`);
        else if (verdict.kind === 'outside') {
          outside.add(id);
          countLeftOut(`${verdict.entity.name} of others`);
        } else if (!isKept(table, item)) countLeftOut(entityOf(table, item)!.name);
        else count += 1;
      }),
    );
  });
  if (refused.length > 0) throw refusal(refused);
  for (const item of claims.profiles.values())
    for (const name of takeProfile(item, claims, keep, importedAt).leftOut) countLeftOut(name);

  return {
    count,
    leftOut,
    take: (table, batch) =>
      batch
        .filter(
          item => !hasExpired(table, item, nowMs) && isKept(table, item) && !outside.has(idOf(table, item)),
        )
        .map(item =>
          entityOf(table, item) === profile ? takeProfile(item, claims, keep, importedAt).item : item,
        ),
  };
}

function requireProfiles({ accounts, profiles }: Claims, keep: ReadonlySet<Keep>): void {
  for (const id of accounts) {
    const profile = profiles.get(id);
    if (!profile) throw new UsageError(`the archive has no profile of ${id}`);
    if (profile.isOrganisation === true && !keep.has('roles'))
      throw new UsageError(
        `${id} is an organisation: without its members nobody could use it. If you know that they are right, use --keep roles`,
      );
  }
}

function takeProfile(given: Attributes, { accounts }: Claims, keep: ReadonlySet<Keep>, importedAt: string) {
  const { item, leftOut } = keepOfProfile(given, keep, importedAt);
  for (const name of ['signsInto', 'madeFor'])
    if (item[name] !== undefined && !accounts.has(String(item[name]))) delete item[name];
  return { item, leftOut };
}

function refusal(refused: readonly string[]): UsageError {
  const more = refused.length > named ? `; and ${refused.length - named} more` : '';
  return new UsageError(
    `the archive has what is not of its accounts: ${refused.slice(0, named).join('; ')}${more}. Nothing was written`,
  );
}

// Short: there is one for each item.
const idOf = (table: AnyTable, item: Attributes): string =>
  createHash('sha256')
    .update(JSON.stringify([table.name, ...Object.values(keyIn(table, item))]))
    .digest('base64')
    .slice(0, 20);

export const nameOf = (table: AnyTable, item: Attributes): string =>
  `${entityOf(table, item)?.name ?? 'item'} ${Object.values(keyIn(table, item)).join(' ')} in ${table.name}`;
