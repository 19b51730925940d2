import type { CAC } from 'cac';
import { declareActions, runAction } from './action.ts';
import type { actions, Flags } from './streams-actions.ts';

export function registerStreams(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'streams <action> [consumer]', 'The consumers of streams', {
    status: 'Where each of them is, and how far behind',
    letters: 'What a consumer could not handle, and why',
    redrive: 'Have it try those again',
  })
    .option('--path <folder>', 'The folder of the embedded engine (default: ./data)')
    .option('--endpoint <url>', 'A DynamoDB to look at, instead of a folder')
    .option('--region <region>', 'The AWS region to look at, instead of a folder')
    .option('--prefix <text>', 'What the names of the tables begin with (default: STAK_TABLE_PREFIX)')
    .option('--json', 'status, letters: print everything there is to know')
    .example('stak streams status --path ./data')
    .example('stak streams letters webhooks-alerts')
    .example('stak streams redrive webhooks-alerts')
    .action(async (name: string, consumer: string | undefined, flags: Flags) => {
      const { actions } = await import('./streams-actions.ts');
      await runAction('streams', actions, name, flags, consumer);
    });
}
