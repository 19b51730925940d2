import type { CAC } from 'cac';
import { declareActions, runAction } from './action.ts';
import type { actions, Flags } from './tables-actions.ts';

export function registerTables(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'tables <action>', 'The table designs', {
    list: 'All of them, with the size of their designs',
    create: 'Make the tables, or what is missing of them; a server does so when it starts',
    doc: 'A page for each table: keys, entities, access patterns, cost',
    cost: 'What each access pattern costs, in units, measured',
  })
    .option('--from <module>', "A module that exports designs (default: Stak's own)")
    .option('--path <folder>', 'create: the folder of the embedded engine (default: ./data)')
    .option('--endpoint <url>', 'create: a DynamoDB to create them in, instead of a folder')
    .option('--region <region>', 'create: the AWS region to create them in, instead of a folder')
    .option('--prefix <text>', 'create: what the names of the tables begin with (default: STAK_TABLE_PREFIX)')
    .option('--to <folder>', 'doc: write a page for each table there, instead of printing them')
    .option('--check', 'doc: only say whether the pages in the folder are up to date')
    .option('--json', 'list, cost: print it as JSON')
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
