import type { CAC } from 'cac';
import { UsageError } from '../errors.ts';
import type { Flags } from './streams-actions.ts';

export function registerStreams(cli: CAC): void {
  cli
    .command('streams <action> [consumer]', 'The consumers of streams: status, letters, redrive')
    .option('--path <folder>', 'The folder of the embedded engine (default: ./data)')
    .option('--endpoint <url>', 'A DynamoDB to look at, instead of a folder')
    .option('--region <region>', 'The AWS region to look at, instead of a folder')
    .option('--json', 'status: print everything there is to know')
    .example('stak streams status --path ./data')
    .example('stak streams letters inbox-realtime')
    .example('stak streams redrive inbox-realtime')
    .action(async (name: string, consumer: string | undefined, flags: Flags) => {
      const { actions } = await import('./streams-actions.ts');
      const action = actions.get(name);
      if (!action)
        throw new UsageError(`stak streams knows status, letters and redrive, not ${JSON.stringify(name)}`);
      await action(flags, consumer);
    });
}
