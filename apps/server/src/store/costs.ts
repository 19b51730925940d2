import { type AnyTable, type CapacityEntry, measureCosts } from '@stak/table';

// Measures a design's access patterns with its examples, in a separate store.
export async function measureDesign(table: AnyTable): Promise<CapacityEntry[]> {
  const { createEngine } = await import('@stak/engine');
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  try {
    return await measureCosts({ client: engine.client, control: engine }, table);
  } finally {
    await engine.close();
  }
}
