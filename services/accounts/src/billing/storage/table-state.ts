import type { Store } from '@stak/table';
import { tableState } from './tables.ts';

export async function requestRecount(store: Store, nowMs: number, table: string): Promise<void> {
  await store.update(
    tableState,
    { table },
    { set: { requested_at: nowMs }, setOnce: { generation: 0, tried: 0 } },
    { upsert: true },
  );
}
