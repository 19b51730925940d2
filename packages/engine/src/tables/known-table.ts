import type { Context } from '../context.ts';
import type { Table } from '../storage/table.ts';

// The control plane names the table it did not find; the data plane does not.
export const knownTable = (context: Context, name: string): Table =>
  context.catalog.get(name, `Requested resource not found: Table: ${name} not found`);
