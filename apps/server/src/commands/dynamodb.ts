import type { CAC } from 'cac';
import { UsageError } from '../errors.ts';
import { actions, type Flags } from './dynamodb-actions.ts';

export function registerDynamoDb(cli: CAC): void {
  cli
    .command('dynamodb [action]', 'Serve DynamoDB from a folder; or check, stats, backup')
    .option('--path <folder>', 'Where the tables are kept (default: ./data)')
    .option('--memory', 'Keep the tables in memory and forget them at the end')
    .option('--port <port>', 'Port to listen on; 0 picks a free one (default: 8000)')
    .option('--host <host>', 'Address to listen on (default: 127.0.0.1)')
    .option('--to <folder>', 'Where backup writes its copy')
    .example('stak dynamodb --port 8000 --path ./data')
    .example('stak dynamodb check --path ./data')
    .example('stak dynamodb stats --path ./data')
    .example('stak dynamodb backup --path ./data --to ./backup')
    .action(async (name: string | undefined, flags: Flags) => {
      const action = actions.get(name ?? 'serve');
      if (!action)
        throw new UsageError(`stak dynamodb knows check, stats and backup, not ${JSON.stringify(name)}`);
      await action(flags);
    });
}
