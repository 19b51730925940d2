import type { CAC } from 'cac';
import { declareActions, runAction } from './action.ts';
import type { actions, Flags } from './aws-actions.ts';

export function registerAws(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'aws <action>', 'Stak on AWS', {
    template: 'A CloudFormation template: tables, bucket, servers behind a load balancer, alarms',
    handlers: 'The code of the Lambda functions that follow the streams, for --streams lambda',
  })
    .option('--prefix <text>', 'What the names of the tables begin with (default: STAK_TABLE_PREFIX)')
    .option('--size <size>', 'Of one server: small (half a core), medium, large or huge (4 cores)')
    .option('--streams <where>', 'What follows the streams: servers (default), or lambda where it can')
    .option('--to <folder>', 'Where the code of the Lambda functions is written (default: handlers)')
    .option('--env <name=value>', 'A variable of the servers, as in .env.example; may be repeated')
    .option('--secret <name>', 'A variable that is in the secret besides STAK_SECRET_KEYS; may be repeated')
    .example('stak aws template > stak.json')
    .example('stak aws template --streams lambda > stak.json')
    .example('stak aws handlers --to handlers')
    .example('stak aws template --env STAK_MODEL=bedrock/… --secret STAK_STRIPE_SECRET_KEY')
    .action(async (name: string, flags: Flags) => {
      const { actions } = await import('./aws-actions.ts');
      await runAction('aws', actions, name, flags);
    });
}
