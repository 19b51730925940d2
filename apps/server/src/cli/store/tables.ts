import type { CAC } from 'cac';
import { declareActions, runAction } from '../action.ts';
import type { actions, Flags } from './tables-actions.ts';

export function registerTables(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'tables <action>', 'The table designs', {
    list: 'List the tables and the size of their designs',
    create: 'Create the tables, or what is missing of them. A server does so at startup',
    doc: 'Document each table: keys, entities, access patterns, cost',
    cost: 'Show the measured cost of each access pattern, in units',
  })
    .option('--from <module>', "A module that exports designs (default: Stak's own)")
    .option('--path <folder>', 'create: the folder of the embedded engine (default: ./data)')
    .option('--endpoint <url>', 'create: a DynamoDB endpoint to use instead of a folder')
    .option('--region <region>', 'create: the AWS region to use instead of a folder')
    .option('--prefix <text>', 'create: the prefix of table names (default: STAK_TABLE_PREFIX)')
    .option('--to <folder>', 'doc: write a page for each table to this folder, instead of printing')
    .option('--check', 'doc: only check whether the pages in the folder are up to date')
    .option('--json', 'list, cost: print JSON')
    .example('stak tables list')
    .example('stak tables create --path ./data')
    .example('stak tables create --from ./table.ts --region eu-central-1')
    .example('stak tables doc --to docs/designs')
    .example('stak tables cost')
    .action(async (name: string, flags: Flags) => {
      const { actions } = await import('./tables-actions.ts');
      await runAction('tables', actions, name, flags);
    });
}
