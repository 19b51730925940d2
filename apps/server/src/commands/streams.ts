import type { CAC } from 'cac';
import { declareActions, runAction } from './action.ts';
import type { actions, Flags } from './streams-actions.ts';

export function registerStreams(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'streams <action> [consumer]', 'The consumers of streams', {
    status: 'Show the position and lag of each consumer',
    letters: 'List the dead letters of a consumer',
    redrive: 'Retry the dead letters of a consumer',
  })
    .option('--path <folder>', 'The folder of the embedded engine (default: ./data)')
    .option('--endpoint <url>', 'A DynamoDB endpoint to use instead of a folder')
    .option('--region <region>', 'The AWS region to use instead of a folder')
    .option('--prefix <text>', 'The prefix of table names (default: STAK_TABLE_PREFIX)')
    .option('--json', 'status, letters: print JSON')
    .example('stak streams status --path ./data')
    .example('stak streams letters webhooks-alerts')
    .example('stak streams redrive webhooks-alerts')
    .action(async (name: string, consumer: string | undefined, flags: Flags) => {
      const { actions } = await import('./streams-actions.ts');
      await runAction('streams', actions, name, flags, consumer);
    });
}
