import type { CAC } from 'cac';
import { declareActions, runAction } from './action.ts';
import type { actions, Flags } from './secrets-actions.ts';

export function registerSecrets(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'secrets <action>', 'The keys of a server', {
    status: 'How much is sealed under which of STAK_SECRET_KEYS',
    reseal: 'Seal everything under the first of them; then the others can be dropped',
    rotate: 'Have the next key sign tokens from now on',
  })
    .option('--path <folder>', 'The folder of the server (default: STAK_DATA, or ./data)')
    .option('--revoke', 'rotate: refuse every token that the last key has signed')
    .option('--json', 'status: print it as JSON')
    .example('stak secrets status')
    .example('stak secrets rotate --revoke')
    .action(async (name: string, flags: Flags) => {
      const { actions } = await import('./secrets-actions.ts');
      await runAction('secrets', actions, name, flags);
    });
}
