import { defineCommand, storeOptions } from '../action.ts';

export const options = {
  ...storeOptions,
  '--max-lag <time>': 'status: fail if a consumer is further behind, such as 5m',
  '--json': 'status, letters, missed: print JSON',
} as const;

export const registerStreams = defineCommand('streams <action> [consumer]', {
  title: 'The consumers of streams',
  actions: {
    status: 'Show the position and lag of each consumer',
    letters: 'List the dead letters of a consumer',
    redrive: 'Retry the dead letters of a consumer',
    missed: 'List the consumers that have lost changes',
    forget: 'Drop the note that a consumer has lost changes',
  },
  options,
  examples: [
    'stak streams status --path ./data',
    'stak streams letters webhooks-alerts',
    'stak streams redrive webhooks-alerts',
  ],
  exitCodes: {
    0: 'done; status: no consumer has dead letters, or is further behind than --max-lag',
    1: 'the store could not be read, or the command is wrong',
    2: 'status: a consumer is further behind than --max-lag',
    3: 'status: a consumer has dead letters',
  },
  load: () => import('./streams-actions.ts'),
});
