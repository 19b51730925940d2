import type { CAC } from 'cac';
import { declareActions, runAction } from '../action.ts';
import type { actions, Flags } from './storage-actions.ts';

export function registerStorage(cli: CAC): void {
  declareActions<keyof typeof actions>(
    cli,
    'storage <action>',
    'How much each account stores, for operators',
    {
      list: 'List accounts by storage, largest first',
      recount: 'Recount every table by reading each item; a running server does the work',
    },
  )
    .option('--path <folder>', 'The folder of the embedded engine (default: ./data)')
    .option('--endpoint <url>', 'A DynamoDB endpoint to use instead of a folder')
    .option('--region <region>', 'The AWS region to use instead of a folder')
    .option('--prefix <text>', 'The prefix of table names (default: STAK_TABLE_PREFIX)')
    .option('--json', 'list: print bytes and items as JSON')
    .example('stak storage list --path ./data')
    .example('stak storage recount')
    .action(async (name: string, flags: Flags) => {
      const { actions } = await import('./storage-actions.ts');
      await runAction('storage', actions, name, flags);
    });
}
