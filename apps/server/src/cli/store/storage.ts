import { defineCommand, storeOptions } from '../action.ts';

export const options = {
  ...storeOptions,
  '--json': 'list: print bytes and items as JSON',
} as const;

export const registerStorage = defineCommand('storage <action>', {
  title: 'How much each account stores, for operators',
  actions: {
    list: 'List accounts by storage, largest first',
    recount: 'Recount every table by reading each item; a running server does the work',
  },
  options,
  examples: ['stak storage list --path ./data', 'stak storage recount'],
  load: () => import('./storage-actions.ts'),
});
