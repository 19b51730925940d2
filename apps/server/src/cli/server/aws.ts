import type { CAC } from 'cac';
import { declareActions, runAction } from '../action.ts';
import type { actions, Flags } from './aws-actions.ts';

export function registerAws(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'aws <action>', 'Stak on AWS', {
    template: 'Print a CloudFormation template: tables, bucket, servers behind a load balancer, alarms',
    handlers: 'Write the code of the Lambda functions that handle the streams, for --streams lambda',
  })
    .option('--prefix <text>', 'The prefix of table names (default: STAK_TABLE_PREFIX)')
    .option('--size <size>', 'The size of a server: small (half a core), medium, large or huge (4 cores)')
    .option('--streams <where>', 'What handles the streams: servers (default), or lambda where possible')
    .option('--to <folder>', 'The folder for the code of the Lambda functions (default: handlers)')
    .option(
      '--env <name=value>',
      'An environment variable of the servers, as in .env.example; can be repeated',
    )
    .option('--secret <name>', 'A variable in the secret in addition to STAK_SECRET_KEYS; can be repeated')
    .example('stak aws template > stak.json')
    .example('stak aws template --streams lambda > stak.json')
    .example('stak aws handlers --to handlers')
    .example('stak aws template --env STAK_MODEL=bedrock/… --secret STAK_STRIPE_SECRET_KEY')
    .action(async (name: string, flags: Flags) => {
      const { actions } = await import('./aws-actions.ts');
      await runAction('aws', actions, name, flags);
    });
}
