import type { Context } from '../context.ts';
import { resourceInUse } from '../errors.ts';
import type { Table } from '../storage/table.ts';

// The control plane names the table it did not find; the data plane does not.
const notFound = (name: string): string => `Requested resource not found: Table: ${name} not found`;

export function knownTable({ catalog }: Context, name: string): Table {
  if (catalog.findAny(name)?.isCreating)
    throw resourceInUse(
      `Attempt to change a resource which is still in use: Table is being created: ${name}`,
    );
  return catalog.get(name, notFound(name));
}

/** Also one that is being created. */
export const describedTable = ({ catalog }: Context, name: string): Table =>
  catalog.findAny(name) ?? catalog.get(name, notFound(name));
