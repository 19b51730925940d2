import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { createTables } from '../src/index.ts';
import { testBatches } from './contract/batches.ts';
import { testItems } from './contract/items.ts';
import { testQueries } from './contract/queries.ts';
import { testStored } from './contract/stored.ts';
import { testTables } from './contract/tables.ts';
import { emptyTable, type Target } from './contract/target.ts';
import { testTransactions } from './contract/transactions.ts';
import { testUpdates } from './contract/updates.ts';
import { inbox } from './example-table.ts';

export type { Target } from './contract/target.ts';

/**
 * Everything the layer promises, on whatever `make` connects to. The table of the example is made there, and removed
 * at the end.
 */
export function testClient(name: string, make: () => Promise<Target>): void {
  describe(name, () => {
    let target: Target;
    beforeAll(async () => {
      target = await make();
      await dropTable();
      await createTables(target.control, [inbox]);
    }, 60_000);
    beforeEach(() => emptyTable(target, inbox));
    afterAll(async () => {
      await dropTable();
      await target.close();
    });

    async function dropTable(): Promise<void> {
      await target.control.execute('DeleteTable', { TableName: inbox.name }).catch(error => {
        if ((error as Error).name !== 'ResourceNotFoundException') throw error;
      });
    }

    const get = () => target;
    describe('items', () => testItems(get));
    describe('updates', () => testUpdates(get));
    describe('queries', () => testQueries(get));
    describe('what is stored', () => testStored(get));
    describe('batches', () => testBatches(get));
    describe('transactions', () => testTransactions(get));
    describe('tables', () => testTables(get));
  });
}
