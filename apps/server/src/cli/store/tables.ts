import { defineCommand } from '../action.ts';

export const options = {
  '--from <module>': "A module that exports designs (default: Stak's own)",
  '--path <folder>': 'create: the folder of the embedded engine (default: ./data)',
  '--endpoint <url>': 'create: a DynamoDB endpoint to use instead of a folder',
  '--region <region>': 'create: the AWS region to use instead of a folder',
  '--prefix <text>': 'create: the prefix of table names (default: STAK_TABLE_PREFIX)',
  '--to <folder>': 'doc: write a page for each table to this folder, instead of printing',
  '--check': 'doc: only check whether the pages in the folder are up to date',
  '--json': 'list, cost: print JSON',
} as const;

export const registerTables = defineCommand('tables <action>', {
  title: 'The table designs',
  actions: {
    list: 'List the tables and the size of their designs',
    create: 'Create the tables, or what is missing of them. A server does so at startup',
    doc: 'Document each table: keys, entities, access patterns, cost',
    cost: 'Show the measured cost of each access pattern, in units',
  },
  options,
  examples: [
    'stak tables list',
    'stak tables create --path ./data',
    'stak tables create --from ./table.ts --region eu-central-1',
    'stak tables doc --to docs/designs',
    'stak tables cost',
  ],
  load: () => import('./tables-actions.ts'),
});
