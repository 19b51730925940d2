import { join } from 'node:path';
import type { AccountPrincipal, EndUserPrincipal } from '@stak/http';
import type { Clock, Sealer } from '@stak/kit';
import type { StreamSource } from '@stak/streams';
import type { Store } from '@stak/table';
import { dayOf } from '../capture/bronze-file.ts';
import { type Lag, readLag } from '../capture/lag.ts';
import type { Duck } from '../duckdb/duck.ts';
import { lakeErrors } from '../errors.ts';
import { createCatalog } from '../iceberg/catalog.ts';
import { createCopies } from '../iceberg/copies.ts';
import { answerInsight } from '../insights/answer.ts';
import type { Insight } from '../insights/insight.ts';
import { createKeptSums } from '../insights/sum-cache.ts';
import * as limits from '../limits.ts';
import { columnsFor, isGone, type Part } from '../storage/lake-table.ts';
import type { ObjectStore } from '../storage/objects.ts';
import { createTurns } from './fair-queue.ts';
import { isMentioned, listViews, runQuery } from './query.ts';
import { type EnterTenant, scopeOf, type TenantsOf, whoseOf } from './scope.ts';
import { readTableStatus } from './status.ts';

export type Caller = AccountPrincipal | EndUserPrincipal;

type LakeParts = {
  parts: readonly Part[];
  insights: readonly Insight[];
  guests: Duck; // for callers' SQL
  own: Duck; // for ours
  scratch: string;
  store: Store;
  source: StreamSource;
  clock: Clock;
  objects: ObjectStore;
  sealer: Sealer;
  publicUrl: string;
  tenantsOf: TenantsOf;
  enterTenant?: EnterTenant;
  onMissingFile(): void;
};

export type Lake = ReturnType<typeof createReading>;

// What callers ask of the lake.
export function createReading({ parts, insights, guests, own, scratch, ...deps }: LakeParts) {
  const { clock, objects, sealer, publicUrl, tenantsOf } = deps;
  const views = listViews(parts);
  const queries = createTurns(limits.queryTurns);
  const sums = createTurns(limits.insightTurns);
  const kept = createKeptSums(clock);

  // Of several tables, the one that is furthest behind.
  async function lagOf(some: readonly Part[]): Promise<Lag> {
    const lags = await Promise.all(
      some.map(async part => readLag(deps, part.plan.table.name, await part.manifest.read())),
    );
    const current = { as_of: new Date(clock.now()).toISOString(), lag_ms: 0, caught_up: true };
    const worst = lags.reduce((one, other) => (other.lag_ms > one.lag_ms ? other : one), current);
    return { ...worst, caught_up: lags.every(lag => lag.caught_up) };
  }

  // What was in it comes back by itself: whoever keeps the lake is told.
  const tellMissing = (error: unknown): never => {
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
    parts,
    insights,
    tenantsOf,
    sealer,
    clock,
    publicUrl,
    copies: createCopies({ objects, clock, duck: own, scratch: join(scratch, 'copies') }),
    inTurn: (payer, work) => queries.take(payer, () => work().catch(tellMissing)),
  });

  return {
    catalog,
    async query(caller: Caller, sql: string) {
      const scope = await scopeOf(caller, deps);
      const seen = views.filter(view => view.scope === undefined || view.scope === caller.scope);
      const asked = seen.filter(view => isMentioned(view, sql));
      const lag = await lagOf([...new Set(asked.map(view => view.part))]);
      const run = () => runQuery({ duck: guests, views: seen }, scope, sql).catch(tellMissing);
      return { ...(await queries.take(scope.payer, run)), ...lag };
    },
    async status() {
      return {
        tables: await Promise.all(parts.map(part => readTableStatus(deps, part))),
        views: views.map(({ name, part, entity }) => ({
          name,
          description: part.plan.entities.get(entity)?.entity.description ?? entity,
          columns: columnsFor(part, entity),
        })),
      };
    },
    listInsights: () => insights.map(({ name, description }) => ({ name, description })),
    async insight(caller: Caller, name: string, days: number) {
      const insight = insights.find(one => one.name === name);
      const part = parts.find(({ plan }) => plan.table.name === insight?.entity.table.name);
      if (!insight || !part)
        throw lakeErrors.create('lake.insight_not_found', `There is no insight called ${name}.`);
      const scope = await scopeOf(caller, deps);
      // Before the numbers: what is said to be in the answer must be.
      const lag = await lagOf([part]);
      const nowMs = clock.now();
      const window = { today: dayOf(nowMs), since: dayOf(nowMs - (days - 1) * 24 * 60 * 60_000) };
      const asking = { duck: own, scratch, kept };
      const answer = () => answerInsight(asking, part, insight, scope, window).catch(tellMissing);
      const data = await sums.take(scope.payer, answer);
      return { name, whose: whoseOf(scope), data: [...data], ...lag };
    },
  };
}
