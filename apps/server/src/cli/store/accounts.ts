import { defineCommand } from '../action.ts';

export const options = {
  '--path <folder>': 'The folder of the server (default: STAK_DATA, or ./data)',
  '--plan <plan>': 'plan: free, starter, pro, team or selfhosted',
  '--json': 'list, show: print JSON',
} as const;

export const registerAccounts = defineCommand('accounts <action> [who]', {
  title: 'Manage the accounts of a server, for operators',
  actions: {
    list: 'List all accounts and their plans',
    show: 'Show an account, by id or e-mail address',
    plan: 'Change the plan of an account, with --plan',
    verify: 'Mark the e-mail address as verified',
    'reset-password': 'Print a link to choose a new password, valid for an hour',
    'remove-factor': 'Remove the second factor, for someone who lost their phone and recovery codes',
    disable: 'Disable an account: end its sessions and refuse its keys',
    enable: 'Enable an account again, with the keys it had',
  },
  options,
  examples: [
    'stak accounts list',
    'stak accounts reset-password ann@example.com',
    'stak accounts plan ann@example.com --plan team',
  ],
  load: () => import('./accounts-actions.ts'),
});
