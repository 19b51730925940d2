import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccountPrincipal, EndUserPrincipal } from '@stak/http';
import type { Clock, Sealer } from '@stak/kit';
import type { StreamSource } from '@stak/streams';
import type { Insight, Store } from '@stak/table';
import { type Lag, readLag } from './capture/lag.ts';
import { createCatalog } from './catalog/catalog.ts';
import { createCopies } from './catalog/copies.ts';
import type { Duck, DuckJob, FileFormat, QueryParams } from './duckdb/duck.ts';
import { lakeErrors } from './errors.ts';
import { answerInsight } from './insights/answer.ts';
import { createSumCache } from './insights/sum-cache.ts';
import { isGone, type LakeTable } from './lake-table.ts';
import * as limits from './limits.ts';
import { createFairQueue } from './query/fair-queue.ts';
import { readHistory } from './query/history.ts';
import { columnsOfView, isMentioned, listViews, runQuery } from './query/query.ts';
import { readTableStatus } from './query/status.ts';
import { type PayerOf, scopeOf, type TenantsOf, whoseOf } from './scope.ts';
import { dayOf } from './storage/bronze-file.ts';
import type { ObjectStore } from './storage/objects.ts';

export type Caller = AccountPrincipal | EndUserPrincipal;

/** The limits that an account's plan sets to one query. */
export type QueryLimit = { rows: number; bytes: number; seconds: number };
export type QueryLimits = (accountId: string) => Promise<QueryLimit | undefined>;

type ReaderDeps = {
  lakeTables: readonly LakeTable[];
  insights: readonly Insight[];
  callers: Duck; // runs callers' SQL
  own: Duck; // runs our own SQL, for insights and copies
  scratch: string;
  store: Store;
  source: StreamSource;
  clock: Clock;
  objects: ObjectStore;
  sealer: Sealer;
  publicUrl: string;
  tenantsOf: TenantsOf;
  payerOf?: PayerOf;
  queryLimits?: QueryLimits;
  onMissingFile(): void;
};

export type LakeReader = ReturnType<typeof createReader>;

// Serves callers: SQL, insights, status and the Iceberg catalog.
export function createReader({ lakeTables, insights, callers, own, scratch, ...deps }: ReaderDeps) {
  const { clock, objects, sealer, publicUrl, tenantsOf } = deps;
  const views = listViews(lakeTables);
  const queryQueue = createFairQueue(limits.queryQueue);
  const insightQueue = createFairQueue(limits.insightQueue);
  const sumCache = createSumCache(clock);

  // The lag of the table that is furthest behind.
  async function lagOf(some: readonly LakeTable[]): Promise<Lag> {
    const lags = await Promise.all(
      some.map(async lakeTable => readLag(deps, lakeTable.plan.table.name, await lakeTable.manifest.read())),
    );
    const current = { as_of: new Date(clock.now()).toISOString(), lag_ms: 0, caught_up: true };
    const worst = lags.reduce((one, other) => (other.lag_ms > one.lag_ms ? other : one), current);
    return { ...worst, caught_up: lags.every(lag => lag.caught_up) };
  }

  // The maintenance reads the table again, so the file is restored without a manual step.
  const reportMissing = (error: unknown): never => {
    if (!isGone(error)) throw error;
    deps.onMissingFile();
    throw lakeErrors.create(
      'lake.busy',
      'A file of the lake is missing or damaged; its table is read again.',
      {
        retryAfterS: 10,
      },
    );
  };

  const catalog = createCatalog({
    lakeTables,
    insights,
    tenantsOf,
    sealer,
    clock,
    publicUrl,
    copies: createCopies({ objects, clock, duck: own, scratch: join(scratch, 'copies') }),
    runFairly: (payer, work) => queryQueue.run(payer, () => work().catch(reportMissing)),
  });

  async function ask(
    caller: Caller,
    asked: Pick<DuckJob, 'params' | 'output'> & { sql: string },
    within: (most: QueryLimit) => Pick<DuckJob, 'maxRows' | 'maxBytes'>,
  ) {
    const scope = await scopeOf(caller, deps);
    const most = (await deps.queryLimits?.(scope.payer)) ?? limits.queryLimit;
    const seen = views.filter(
      view =>
        (view.scope === undefined || view.scope === caller.scope) &&
        (!view.isText || caller.kind === 'account'),
    );
    const mentioned = seen.filter(view => isMentioned(view, asked.sql));
    const lag = await lagOf([...new Set(mentioned.map(view => view.lakeTable))]);
    const job = { ...asked, ...within(most), timeoutMs: most.seconds * 1000 };
    const run = () => runQuery({ duck: callers, views: seen }, scope, job).catch(reportMissing);
    return { answer: await queryQueue.run(scope.payer, run), lag };
  }

  return {
    catalog,
    // A JSON response is built by the process that serves all callers, so no plan has a larger one.
    async query(caller: Caller, sql: string, params?: QueryParams) {
      const { answer, lag } = await ask(caller, { sql, params }, most => ({
        maxRows: Math.min(most.rows, limits.resultRows),
        maxBytes: Math.min(most.bytes, limits.resultBytes),
      }));
      const { columns, rows, truncated } = answer;
      return { columns, rows, truncated, ...lag };
    },
    /** A file with the rows. The caller removes it. */
    async queryFile(caller: Caller, sql: string, format: FileFormat, params?: QueryParams) {
      await mkdir(scratch, { recursive: true });
      const path = join(scratch, `answer-${randomUUID()}.${format}`);
      const remove = () => rm(path, { force: true });
      try {
        const { answer, lag } = await ask(caller, { sql, params, output: { path, format } }, most => ({
          maxRows: most.rows,
          maxBytes: most.bytes,
        }));
        return { path, bytes: answer.bytes ?? 0, truncated: answer.truncated, remove, ...lag };
      } catch (error) {
        await remove();
        throw error;
      }
    },
    async status() {
      return {
        tables: await Promise.all(lakeTables.map(lakeTable => readTableStatus(deps, lakeTable))),
        views: views.map(view => ({
          name: view.name,
          description: view.lakeTable.plan.entities.get(view.entity)?.entity.description ?? view.entity,
          columns: columnsOfView(view),
        })),
      };
    },
    /** The changes of one item, as far as the lake has them. */
    async history(caller: Caller, table: string, id: string) {
      const view = views.find(({ name, idAttribute }) => name === table && idAttribute !== undefined);
      if (!view) throw lakeErrors.create('lake.table_not_found', `There is no history of ${table}.`);
      const scope = await scopeOf(caller, deps);
      const lag = await lagOf([view.lakeTable]);
      const asked = { entity: view.entity, idAttribute: view.idAttribute!, id };
      const read = () => readHistory(own, view.lakeTable, scope, asked).catch(reportMissing);
      return { ...(await insightQueue.run(scope.payer, read)), ...lag };
    },
    listInsights: () => insights.map(({ name, description }) => ({ name, description })),
    async insight(caller: Caller, name: string, days: number) {
      const insight = insights.find(one => one.name === name);
      const lakeTable = lakeTables.find(({ plan }) => plan.table.name === insight?.entity.table.name);
      if (!insight || !lakeTable)
        throw lakeErrors.create('lake.insight_not_found', `There is no insight called ${name}.`);
      const scope = await scopeOf(caller, deps);
      // Read before the numbers, so that everything up to `as_of` is in them.
      const lag = await lagOf([lakeTable]);
      const nowMs = clock.now();
      const window = { today: dayOf(nowMs), since: dayOf(nowMs - (days - 1) * 24 * 60 * 60_000) };
      const answer = () =>
        answerInsight({ duck: own, scratch, sums: sumCache }, lakeTable, insight, scope, window).catch(
          reportMissing,
        );
      const data = await insightQueue.run(scope.payer, answer);
      return { name, whose: whoseOf(scope), data: [...data], ...lag };
    },
  };
}
