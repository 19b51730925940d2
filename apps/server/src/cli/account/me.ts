import { defineCommand, serverOption } from '../action.ts';

export const options = {
  ...serverOption,
  '--name <name>': 'rename: your name',
  '--email <address>': 'change-email: the new address; reset-password: the address of the account',
  '--to <file>': 'download, delete: the file, which must not exist yet',
  '--without-download': 'delete: keep nothing',
  '--on <topics>': 'mails: notices that you want: deliveries, limits',
  '--off <topics>': 'mails: notices that you do not want',
  '--json': 'show, sessions, passkeys, mails: print JSON',
} as const;

export const registerMe = defineCommand('me <action> [what]', {
  title: 'Your own account',
  actions: {
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
  },
  options,
  examples: [
    'stak me change-email --email ann@new.example',
    'stak me mails --off deliveries',
    'stak me delete --to everything.tar',
  ],
  load: () => import('./me-actions.ts'),
});
