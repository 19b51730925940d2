import type { CAC } from 'cac';
import { declareActions, runAction } from './action.ts';
import type { actions, Flags } from './dynamodb-actions.ts';

export function registerDynamoDb(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'dynamodb [action]', 'DynamoDB from a folder', {
    serve: 'Answer any DynamoDB client (without an action, too)',
    check: 'Read everything and compare it: items, indexes, streams, sizes',
    stats: 'What there is, in items and bytes',
    backup: 'A copy that is whole, while a server runs',
  })
    .option('--path <folder>', 'Where the tables are kept (default: ./data)')
    .option('--memory', 'Keep the tables in memory and forget them at the end')
    .option('--port <port>', 'Port to listen on; 0 picks a free one (default: 8000)')
    .option('--host <host>', 'Address to listen on (default: 127.0.0.1)')
    .option('--allow-origin <origin>', 'Let web pages of this origin call (default: none)')
    .option('--to <folder>', 'Where backup writes its copy')
    .example('stak dynamodb --port 8000 --path ./data')
    .example('stak dynamodb check --path ./data')
    .example('stak dynamodb stats --path ./data')
    .example('stak dynamodb backup --path ./data --to ./backup')
    .action(async (name: string | undefined, flags: Flags) => {
      const { actions } = await import('./dynamodb-actions.ts');
      await runAction('dynamodb', actions, name ?? 'serve', flags);
    });
}
