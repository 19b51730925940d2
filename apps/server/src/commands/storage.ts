import type { CAC } from 'cac';
import { declareActions, runAction } from './action.ts';
import type { actions, Flags } from './storage-actions.ts';

export function registerStorage(cli: CAC): void {
  declareActions<keyof typeof actions>(
    cli,
    'storage <action>',
    'How much each account stores, for operators',
    {
      list: 'Every account that has something, the largest first',
      recount: 'Count every table again, by looking at each item; a running server does it',
    },
  )
    .option('--path <folder>', 'The folder of the embedded engine (default: ./data)')
    .option('--endpoint <url>', 'A DynamoDB to look at, instead of a folder')
    .option('--region <region>', 'The AWS region to look at, instead of a folder')
    .option('--prefix <text>', 'What the names of the tables begin with (default: STAK_TABLE_PREFIX)')
    .option('--json', 'list: print bytes and items as JSON')
    .example('stak storage list --path ./data')
    .example('stak storage recount')
    .action(async (name: string, flags: Flags) => {
      const { actions } = await import('./storage-actions.ts');
      await runAction('storage', actions, name, flags);
    });
}
