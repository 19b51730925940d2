import { defineCommand } from '../action.ts';

export const options = {
  '--path <folder>': 'The folder of the server (default: STAK_DATA, or ./data)',
  '--revoke': 'rotate: revoke all tokens signed with the previous key',
  '--json': 'status: print JSON',
} as const;

export const registerSecrets = defineCommand('secrets <action>', {
  title: 'The encryption and signing keys of a server',
  actions: {
    status: 'Show how many values each of STAK_SECRET_KEYS encrypts',
    reseal: 'Encrypt everything with the first key; then the others can be removed',
    rotate: 'Switch to the next signing key for tokens',
  },
  options,
  examples: ['stak secrets status', 'stak secrets rotate --revoke'],
  load: () => import('./secrets-actions.ts'),
});
