import type { CAC } from 'cac';
import { UsageError } from '../errors.ts';
import type { Flags } from './tables-actions.ts';

export function registerTables(cli: CAC): void {
  cli
    .command('tables <action>', 'The table designs: list, create, doc, cost')
    .option('--from <module>', "A module that exports designs (default: Stak's own)")
    .option('--path <folder>', 'create: the folder of the embedded engine (default: ./data)')
    .option('--endpoint <url>', 'create: a DynamoDB to create them in, instead of a folder')
    .option('--region <region>', 'create: the AWS region to create them in, instead of a folder')
    .option('--to <folder>', 'doc: write a page for each table there, instead of printing them')
    .option('--check', 'doc: only say whether the pages in the folder are up to date')
    .example('stak tables list')
    .example('stak tables create --path ./data')
    .example('stak tables create --from ./table.ts --region eu-central-1')
    .example('stak tables doc --to docs/designs')
    .example('stak tables cost')
    .action(async (name: string, flags: Flags) => {
      const { actions } = await import('./tables-actions.ts');
      const action = actions.get(name);
      if (!action)
        throw new UsageError(`stak tables knows list, create, doc and cost, not ${JSON.stringify(name)}`);
      await action(flags);
    });
}
