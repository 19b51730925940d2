import type { CAC } from 'cac';
import { declareActions, declareExitCodes, runAction } from '../action.ts';
import type { actions, Flags } from './dynamodb-actions.ts';

export function registerDynamoDb(cli: CAC): void {
  const dynamodb = declareActions<keyof typeof actions>(cli, 'dynamodb [action]', 'DynamoDB from a folder', {
    serve: 'Serve DynamoDB clients (the default action)',
    check: 'Check the store: items, indexes, streams, sizes',
    stats: 'Show the number of items and bytes',
    backup: 'Write a consistent copy, also while a server runs',
  })
    .option('--path <folder>', 'Where the tables are kept (default: ./data)')
    .option('--memory', 'Keep the tables in memory only')
    .option('--port <port>', 'Port to listen on; 0 picks a free one (default: 8000)')
    .option('--host <host>', 'Address to listen on (default: 127.0.0.1)')
    .option('--allow-origin <origin>', 'Allow web pages of this origin (default: none)')
    .option('--buckets <place>', 'serve: a folder with buckets for exports and imports, or s3')
    .option('--to <folder>', 'backup: the folder to write to')
    .option('--repair', 'check: put right what the history, the backup or the items can')
    .option('--json', 'check, stats: print JSON, as they always do')
    .example('stak dynamodb --port 8000 --path ./data')
    .example('stak dynamodb check --path ./data')
    .example('stak dynamodb check --path ./data --repair')
    .example('stak dynamodb stats --path ./data')
    .example('stak dynamodb backup --path ./data --to ./backup')
    .action(async (name: string | undefined, flags: Flags) => {
      const { actions } = await import('./dynamodb-actions.ts');
      await runAction('dynamodb', actions, name ?? 'serve', flags);
    });
  declareExitCodes(dynamodb, {
    0: 'done; check: no problems found',
    1: 'check: problems were found, and are printed; or the store could not be read, or the command is wrong',
  });
}
