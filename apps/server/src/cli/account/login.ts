import { hostname } from 'node:os';
import type { Client } from '@stak/client';
import type { CAC } from 'cac';
import { readOptional, readText } from '../../config/flags.ts';
import type { ConnectFlags } from '../connection.ts';
import { ask } from '../prompt.ts';
import { askCode } from './proof.ts';

type Flags = ConnectFlags & {
  email?: unknown;
  code?: unknown;
  signup?: unknown;
  name?: unknown;
};

const urlOption = [
  '--url <url>',
  'The server (default: that of this folder, or the last one signed in to)',
] as const;

export function registerLogin(cli: CAC): void {
  cli
    .command('login', 'Sign in to a server. Prompts for the password, or reads it from a pipe')
    .option('--url <url>', 'The server (default: that of this folder, or http://127.0.0.1:8787)')
    .option('--email <address>', 'Your e-mail address')
    .option('--code <code>', 'A code from your authenticator app, or a recovery code')
    .option('--signup', 'Create the account first')
    .option('--name <name>', 'signup: your name')
    .example('stak login --email ann@example.com')
    .action(login);
  cli
    .command('logout', 'Sign out')
    .option(...urlOption)
    .action(async (flags: ConnectFlags) => {
      const { signOut } = await import('../connection.ts');
      console.log(`Signed out from ${await signOut(flags)}`);
    });
  cli
    .command('whoami', 'Show who is signed in, and their plan')
    .option(...urlOption)
    .option('--json', 'Print JSON')
    .action(async (flags: ConnectFlags & { json?: unknown }) => {
      const { connect } = await import('../connection.ts');
      const { client, url } = await connect(flags);
      const { sizeText } = await import('@stak/accounts');
      const [{ data: me }, { data: usage }] = await Promise.all([
        client.accounts.getMe(),
        client.accounts.getUsage(),
      ]);
      if (flags.json) return (await import('../print.ts')).printJson({ url, ...me, usage });
      const { usedBytes, limitBytes } = usage.storage;
      const limit = limitBytes === null ? '' : ` of ${sizeText(limitBytes)}`;
      console.log(
        `${me.email} at ${url}: plan ${me.plan}, ${me.usageThisMonth} events this month, ${sizeText(usedBytes)}${limit} stored`,
      );
    });
}

async function login(flags: Flags): Promise<void> {
  const { signIn } = await import('../connection.ts');
  const email = flags.email === undefined ? await ask('E-mail: ') : readText('--email', flags.email);
  const password = await ask('Password: ', { isSecret: true });
  const name = flags.name === undefined ? email.split('@')[0]! : readText('--name', flags.name);
  // The parser reads six digits as a number, and drops leading zeros.
  const given = readOptional('--code', flags.code);
  const code = given !== undefined && /^\d+$/.test(given) ? given.padStart(6, '0') : given;
  const headers = { 'User-Agent': `stak on ${hostname()}` };
  const logIn = (accounts: Client['accounts'], shown: string | undefined) => {
    const body = { email, password, cookie: false, ...(shown !== undefined && { code: shown }) };
    return accounts.logIn({ body }, { headers });
  };
  const { url } = await signIn(
    flags,
    async ({ accounts }) => {
      const body = { email, password, name, cookie: false };
      const answer = flags.signup
        ? await accounts.signUp({ body }, { headers }).catch(error => {
            if (error?.code !== 'accounts.sign_up_by_mail') throw error;
            return signUpByMail(accounts, { email, password, name });
          })
        : await logIn(accounts, code).catch(async error => {
            if (error?.code !== 'accounts.code_required') throw error;
            return logIn(accounts, await askCode());
          });
      return answer.data;
    },
    email,
  );
  console.log(`Signed in to ${url} as ${email}`);
}

async function signUpByMail(
  accounts: Client['accounts'],
  { email, password, name }: { email: string; password: string; name: string },
) {
  await accounts.requestSignUp({ body: { email, password, name } });
  console.error(`A mail with a link is on its way to ${email}.`);
  const link = await ask('The link: ');
  const token = link.trim().replace(/^.*#token=/, '');
  return accounts.finishSignUp({ body: { token, password, cookie: false } });
}
