import type { ApiSettings } from '@stak/http';
import type { Clock, WorkerState } from '@stak/kit';
import type { ServerConfig } from '../config/config.ts';
import type { Database } from '../store/database.ts';
import { storeCheck } from './store-check.ts';

type Check = () => Promise<unknown>;
type Watch = { read(): Promise<readonly unknown[]> };
type ReadinessDeps = {
  clock: Pick<Clock, 'now' | 'sleep'>;
  streams: { letters: Watch; missed: Watch };
  presence?: Check;
  backup?: Check;
  scrub?: Check;
  lake?: { workers(): readonly Pick<WorkerState, 'status'>[] };
};

/** Requests need the store, and can do without the rest for a while. */
export function readinessChecks(
  { client }: Pick<Database, 'client'>,
  { store }: Pick<ServerConfig, 'store'>,
  { clock, streams, presence, backup, scrub, lake }: ReadinessDeps,
): Required<Pick<ApiSettings, 'checks' | 'warnings'>> {
  const folder = store.kind === 'embedded' && store.path !== ':memory:' ? store.path : undefined;
  return {
    checks: { store: storeCheck(client, clock, folder) },
    warnings: {
      // An effect is missing until an operator has handled the record.
      dead_letters: async () => ((await streams.letters.read()).length > 0 ? 'degraded' : undefined),
      missed_changes: async () => ((await streams.missed.read()).length > 0 ? 'degraded' : undefined),
      ...(presence && { public_url: presence }),
      ...(backup && { backup }),
      ...(scrub && { damage: scrub }),
      // SQL and insights use what the lake has written so far.
      ...(lake && {
        lake: async () =>
          lake.workers().some(worker => worker.status === 'backing-off') ? 'degraded' : undefined,
      }),
    },
  };
}
