import type { CAC } from 'cac';
import type { actions, Flags } from './accounts-actions.ts';
import { declareActions, runAction } from './action.ts';

export function registerAccounts(cli: CAC): void {
  declareActions<keyof typeof actions>(
    cli,
    'accounts <action> [who]',
    'The accounts of a server, for operators: on its own store, without mail',
    {
      list: 'Every account, with its plan',
      show: 'One of them, by its id or e-mail address',
      plan: 'Give it a plan, with --plan',
      verify: 'Take its e-mail address for verified',
      'reset-password': 'Print a link with which its owner chooses a new password, for an hour',
      'remove-factor': 'Take away its second factor, for somebody who lost phone and recovery codes',
      disable: 'Let nobody in: its sessions end and its keys are refused',
      enable: 'Let it in again, with the keys it had',
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
