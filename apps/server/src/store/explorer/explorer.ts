import type { AnyEndpoint } from '@stak/http';
import type { Clock, Ids, Logger } from '@stak/kit';
import type { StreamSource } from '@stak/streams';
import type { ControlPlane, Cursors, DynamoClient, Ledger } from '@stak/table';
import { measureDesign } from '../costs.ts';
import { designs } from '../designs.ts';
import { type Called, explorerEndpoints } from './api.ts';
import { createChanges } from './changes.ts';
import { createOperators, type Operators } from './operators.ts';
import { createTablesView } from './tables.ts';

export type ExplorerDeps = {
  client: DynamoClient;
  control: ControlPlane;
  source: StreamSource;
  ledger: Ledger;
  cursors: Cursors;
  clock: Clock;
  ids: Ids;
  log: Logger;
  operators: readonly string[]; // ids of accounts
};

export type Explorer = {
  api: readonly AnyEndpoint[];
  // Admits the account of a demo, from this machine, until this process ends.
  admitFromHere(accountId: string): void;
  isOperator: Operators['isOperator'];
  // For other routes over all customers' data: other callers get a 404, and every access is logged.
  enter(c: Called): void;
  close(): Promise<void>;
};

// A read-only view of every table, with the data of all customers: docs/adr/0060-an-explorer-for-operators.md
export function createExplorer(deps: ExplorerDeps): Explorer {
  const operators = createOperators(deps.operators);
  const changes = createChanges(deps);
  const tables = createTablesView({ ...deps, designs, measure: measureDesign });
  return {
    api: explorerEndpoints({ ...deps, operators, tables, changes }),
    admitFromHere: operators.admitFromHere,
    isOperator: operators.isOperator,
    enter(c) {
      const principal = c.get('principal');
      operators.assertOperator({ principal, request: c.env?.incoming });
      deps.log.info(
        { operator: principal.kind === 'account' && principal.accountId, path: c.req?.path },
        'an operator looks',
      );
    },
    close: changes.close,
  };
}
