import type { CAC } from 'cac';
import { declareActions, runAction } from '../action.ts';
import type { actions, Flags } from './secrets-actions.ts';

export function registerSecrets(cli: CAC): void {
  declareActions<keyof typeof actions>(
    cli,
    'secrets <action>',
    'The encryption and signing keys of a server',
    {
      status: 'Show how many values each of STAK_SECRET_KEYS encrypts',
      reseal: 'Encrypt everything with the first key; then the others can be removed',
      rotate: 'Switch to the next signing key for tokens',
    },
  )
    .option('--path <folder>', 'The folder of the server (default: STAK_DATA, or ./data)')
    .option('--revoke', 'rotate: revoke all tokens signed with the previous key')
    .option('--json', 'status: print JSON')
    .example('stak secrets status')
    .example('stak secrets rotate --revoke')
    .action(async (name: string, flags: Flags) => {
      const { actions } = await import('./secrets-actions.ts');
      await runAction('secrets', actions, name, flags);
    });
}
