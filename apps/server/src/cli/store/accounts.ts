import type { CAC } from 'cac';
import { declareActions, runAction } from '../action.ts';
import type { actions, Flags } from './accounts-actions.ts';

export function registerAccounts(cli: CAC): void {
  declareActions<keyof typeof actions>(
    cli,
    'accounts <action> [who]',
    'Manage the accounts of a server, for operators',
    {
      list: 'List all accounts and their plans',
      show: 'Show an account, by id or e-mail address',
      plan: 'Change the plan of an account, with --plan',
      verify: 'Mark the e-mail address as verified',
      'reset-password': 'Print a link to choose a new password, valid for an hour',
      'remove-factor': 'Remove the second factor, for someone who lost their phone and recovery codes',
      disable: 'Disable an account: end its sessions and refuse its keys',
      enable: 'Enable an account again, with the keys it had',
    },
  )
    .option('--path <folder>', 'The folder of the server (default: STAK_DATA, or ./data)')
    .option('--plan <plan>', 'plan: free, starter, pro, team or selfhosted')
    .option('--json', 'list, show: print JSON')
    .example('stak accounts list')
    .example('stak accounts reset-password ann@example.com')
    .example('stak accounts plan ann@example.com --plan team')
    .action(async (name: string, who: string | undefined, flags: Flags) => {
      const { actions } = await import('./accounts-actions.ts');
      await runAction('accounts', actions, name, flags, who);
    });
}
