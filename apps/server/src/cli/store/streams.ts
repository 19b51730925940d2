import type { CAC } from 'cac';
import { declareActions, declareExitCodes, runAction } from '../action.ts';
import type { actions, Flags } from './streams-actions.ts';

export function registerStreams(cli: CAC): void {
  const streams = declareActions<keyof typeof actions>(
    cli,
    'streams <action> [consumer]',
    'The consumers of streams',
    {
      status: 'Show the position and lag of each consumer',
      letters: 'List the dead letters of a consumer',
      redrive: 'Retry the dead letters of a consumer',
      missed: 'List the consumers that have lost changes',
      forget: 'Drop the note that a consumer has lost changes',
    },
  )
    .option('--path <folder>', 'The folder of the embedded engine (default: ./data)')
    .option('--endpoint <url>', 'A DynamoDB endpoint to use instead of a folder')
    .option('--region <region>', 'The AWS region to use instead of a folder')
    .option('--prefix <text>', 'The prefix of table names (default: STAK_TABLE_PREFIX)')
    .option('--max-lag <time>', 'status: fail if a consumer is further behind, such as 5m')
    .option('--json', 'status, letters, missed: print JSON')
    .example('stak streams status --path ./data')
    .example('stak streams letters webhooks-alerts')
    .example('stak streams redrive webhooks-alerts')
    .action(async (name: string, consumer: string | undefined, flags: Flags) => {
      const { actions } = await import('./streams-actions.ts');
      await runAction('streams', actions, name, flags, consumer);
    });
  declareExitCodes(streams, {
    0: 'done; status: no consumer has dead letters, or is further behind than --max-lag',
    1: 'the store could not be read, or the command is wrong',
    2: 'status: a consumer is further behind than --max-lag',
    3: 'status: a consumer has dead letters',
  });
}
