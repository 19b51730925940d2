import type { CAC } from 'cac';
import { declareActions, runAction } from '../action.ts';
import type { actions, Flags } from './me-actions.ts';

export function registerMe(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'me <action> [what]', 'Your own account', {
    show: 'Show your address, name, plan and second factor',
    rename: 'Change your name, with --name',
    verify: 'Verify your address with the link from the mail',
    'send-verification': 'Send the mail with that link again',
    'change-email': 'Change your address, with --email. Both addresses confirm it',
    'confirm-email': 'Confirm a change of address with the link from a mail',
    'change-password': 'Change your password, which ends your other sessions',
    'reset-password': 'Get back in with a link that is mailed to --email',
    'add-authenticator': 'Add an authenticator app as a second factor. Prints recovery codes, once',
    'remove-authenticator': 'Remove the authenticator app',
    'recovery-codes': 'Replace your recovery codes, and print the new ones once',
    passkeys: 'List your passkeys. They are added in a browser',
    'remove-passkey': 'Remove a passkey, by id',
    sessions: 'List where you are signed in',
    'end-session': 'Sign out there, by id',
    mails: 'Show which notices you get by mail, and switch them with --on and --off',
    download: 'Save all data of your account in a file, with --to',
    delete: 'Delete your account, after a download: with --to, or --without-download',
  })
    .option('--url <url>', 'The server (default: that of this folder, or the last one signed in to)')
    .option('--name <name>', 'rename: your name')
    .option('--email <address>', 'change-email: the new address; reset-password: the address of the account')
    .option('--to <file>', 'download, delete: the file, which must not exist yet')
    .option('--without-download', 'delete: keep nothing')
    .option('--on <topics>', 'mails: notices that you want: deliveries, limits')
    .option('--off <topics>', 'mails: notices that you do not want')
    .option('--json', 'show, sessions, passkeys, mails: print JSON')
    .example('stak me change-email --email ann@new.example')
    .example('stak me mails --off deliveries')
    .example('stak me delete --to everything.tar')
    .action(async (name: string, what: string | undefined, flags: Flags) => {
      const { actions } = await import('./me-actions.ts');
      await runAction('me', actions, name, flags, what);
    });
}
