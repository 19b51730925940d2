import { defineCommand } from '../action.ts';

export const options = {
  '--prefix <text>': 'The prefix of table names (default: STAK_TABLE_PREFIX)',
  '--size <size>': 'The size of a server: small (half a core), medium, large or huge (4 cores)',
  '--streams <where>': 'What handles the streams: servers (default), or lambda where possible',
  '--to <folder>': 'The folder for the code of the Lambda functions (default: handlers)',
  '--env <name=value>': 'An environment variable of the servers, as in .env.example; can be repeated',
  '--secret <name>': 'A variable in the secret in addition to STAK_SECRET_KEYS; can be repeated',
} as const;

export const registerAws = defineCommand('aws <action>', {
  title: 'Stak on AWS',
  actions: {
    template: 'Print a CloudFormation template: tables, bucket, servers behind a load balancer, alarms',
    handlers: 'Write the code of the Lambda functions that handle the streams, for --streams lambda',
  },
  options,
  examples: [
    'stak aws template > stak.json',
    'stak aws template --streams lambda > stak.json',
    'stak aws handlers --to handlers',
    'stak aws template --env STAK_MODEL=bedrock/… --secret STAK_STRIPE_SECRET_KEY',
  ],
  load: () => import('./aws-actions.ts'),
});
