import { defineCommand } from '../action.ts';

export const options = {
  '--path <folder>': 'Where the tables are kept (default: ./data)',
  '--memory': 'Keep the tables in memory only',
  '--port <port>': 'Port to listen on; 0 picks a free one (default: 8000)',
  '--host <host>': 'Address to listen on (default: 127.0.0.1)',
  '--allow-origin <origin>': 'Allow web pages of this origin (default: none)',
  '--buckets <place>': 'serve: a folder with buckets for exports and imports, or s3',
  '--to <folder>': 'backup: the folder to write to',
  '--repair': 'check: put right what the history, the backup or the items can',
  '--json': 'check, stats: print JSON, as they always do',
} as const;

export const registerDynamoDb = defineCommand('dynamodb [action]', {
  title: 'DynamoDB from a folder',
  actions: {
    serve: 'Serve DynamoDB clients (the default action)',
    check: 'Check the store: items, indexes, streams, sizes',
    stats: 'Show the number of items and bytes',
    backup: 'Write a consistent copy, also while a server runs',
  },
  options,
  examples: [
    'stak dynamodb --port 8000 --path ./data',
    'stak dynamodb check --path ./data',
    'stak dynamodb check --path ./data --repair',
    'stak dynamodb stats --path ./data',
    'stak dynamodb backup --path ./data --to ./backup',
  ],
  exitCodes: {
    0: 'done; check: no problems found',
    1: 'check: problems were found, and are printed; or the store could not be read, or the command is wrong',
  },
  usual: 'serve',
  load: () => import('./dynamodb-actions.ts'),
});
