import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UsageError } from '../../config/errors.ts';
import { readOptional, readOptionalList, readText } from '../../config/flags.ts';
import type { FlagsOf } from '../action.ts';
import { authorize, connect, forget, reach } from '../connection.ts';
import { printJson, printTable } from '../print.ts';
import { ask } from '../prompt.ts';
import type { options } from './me.ts';
import {
  addAuthenticator,
  passkeys,
  removeAuthenticator,
  removePasskey,
  renewRecoveryCodes,
} from './me-factors.ts';
import { askPassword, askSecret, readMe, stepUp } from './proof.ts';

type Flags = FlagsOf<typeof options>;

export const actions = {
  show,
  rename,
  verify,
  'send-verification': sendVerification,
  'change-email': changeEmail,
  'confirm-email': confirmEmail,
  'change-password': changePassword,
  'reset-password': resetPassword,
  'add-authenticator': addAuthenticator,
  'remove-authenticator': removeAuthenticator,
  'recovery-codes': renewRecoveryCodes,
  passkeys,
  'remove-passkey': removePasskey,
  sessions,
  'end-session': endSession,
  mails,
  download,
  delete: remove,
};

// The link as it is in the mail, or the token at its end.
const tokenOf = async (given: string | undefined): Promise<string> =>
  (given ?? (await ask('The link from the mail: '))).trim().replace(/^.*#token=/, '');

async function show(flags: Flags): Promise<void> {
  const { client, url } = await connect(flags);
  const me = await readMe(client);
  if (flags.json) return printJson({ url, ...me });
  printTable([
    ['server', url],
    ['e-mail', me.emailVerified ? me.email : `${me.email} (not verified)`],
    ['name', me.name],
    ['plan', me.plan],
    ['password', me.hasPassword ? 'yes' : 'no'],
    ['authenticator app', me.authenticator ? 'yes' : 'no'],
    ['passkeys', String(me.passkeys)],
    ['since', me.createdAt],
  ]);
}

async function rename(flags: Flags): Promise<void> {
  const name = readText('--name', flags.name);
  const { client } = await connect(flags);
  await client.accounts.updateMe({ body: { name } });
  console.log(`Your name is ${name}`);
}

async function verify(flags: Flags, link: string | undefined): Promise<void> {
  const { client } = await connect(flags);
  await client.accounts.verifyEmail({ body: { token: await tokenOf(link) } });
  console.log('Your address is verified');
}

async function sendVerification(flags: Flags): Promise<void> {
  const { client } = await connect(flags);
  await client.accounts.sendVerification();
  console.log('A mail with a link is on its way; then use stak me verify');
}

async function changeEmail(flags: Flags): Promise<void> {
  const email = readText('--email', flags.email);
  const { client } = await connect(flags);
  const me = await readMe(client);
  await client.accounts.changeEmail({ body: { email, ...(await askPassword(me)) } });
  const others = me.emailVerified ? ` and to ${me.email}` : '';
  console.log(`A mail with a link is on its way to ${email}${others}; then use stak me confirm-email`);
}

async function confirmEmail(flags: Flags, link: string | undefined): Promise<void> {
  const { client } = await connect(flags);
  const { data } = await client.accounts.confirmEmail({ body: { token: await tokenOf(link) } });
  console.log(
    data.status === 'changed'
      ? 'Your address is changed'
      : 'Confirmed; the other address has a link to confirm, too',
  );
}

async function changePassword(flags: Flags): Promise<void> {
  const { client } = await connect(flags);
  const { hasPassword } = await readMe(client);
  const currentPassword = hasPassword ? await askSecret('Current password: ') : undefined;
  const newPassword = await askSecret('New password: ');
  await client.accounts.changePassword({ body: { newPassword, ...(hasPassword && { currentPassword }) } });
  console.log('Your password is changed, and your other sessions have ended');
}

// For people who cannot sign in. Requests the mail first, unless they already have its link.
async function resetPassword(flags: Flags, link: string | undefined): Promise<void> {
  const { client } = reach(flags);
  if (link === undefined) {
    const email = readText('--email', flags.email);
    await client.accounts.requestPasswordReset({ body: { email } });
    console.error(`If ${email} has an account, a mail with a link is on its way.`);
  }
  const token = await tokenOf(link);
  const newPassword = await askSecret('New password: ');
  await client.accounts.finishPasswordReset({ body: { token, newPassword } });
  console.log('Your password is changed, and all your sessions have ended; use stak login');
}

async function sessions(flags: Flags): Promise<void> {
  const { client } = await connect(flags);
  const { data } = (await client.accounts.listSessions()).data;
  if (flags.json) return printJson(data);
  const rows = data.map(session => [
    session.sessionId,
    session.isCurrent ? `${session.device} (this one)` : session.device,
    session.address ?? '',
    session.lastUsedAt,
  ]);
  printTable([['id', 'device', 'address', 'last used'], ...rows]);
}

async function endSession(flags: Flags, sessionId: string | undefined): Promise<void> {
  if (sessionId === undefined) throw new UsageError('which session? see stak me sessions');
  const { client } = await connect(flags);
  await client.accounts.endSession({ sessionId });
  console.log(`${sessionId} has ended`);
}

async function mails(flags: Flags): Promise<void> {
  const on = readOptionalList('--on', flags.on) ?? [];
  const off = readOptionalList('--off', flags.off) ?? [];
  const { client } = await connect(flags);
  let wanted = (await readMe(client)).mails;
  const switches = [...on.map(topic => [topic, true] as const), ...off.map(topic => [topic, false] as const)];
  for (const [topic] of switches)
    if (!Object.hasOwn(wanted, topic))
      throw new UsageError(
        `the mails are ${Object.keys(wanted).join(' and ')}, not ${JSON.stringify(topic)}`,
      );
  if (switches.length > 0)
    wanted = (await client.accounts.updateMe({ body: { mails: Object.fromEntries(switches) } })).data.mails;
  if (flags.json) return printJson(wanted);
  printTable(Object.entries(wanted).map(([topic, isOn]) => [topic, isOn ? 'on' : 'off']));
}

async function download(flags: Flags): Promise<void> {
  const path = readText('--to', flags.to);
  const { client } = await connect(flags);
  await stepUp(client, await readMe(client));
  await save(flags, path);
}

async function remove(flags: Flags): Promise<void> {
  const path = readOptional('--to', flags.to);
  if ((path === undefined) === (flags.withoutDownload === undefined))
    throw new UsageError('name a file with --to for all your data, or say --without-download');
  const { client, url } = await connect(flags);
  const me = await readMe(client);
  const typed = await ask(`This cannot be undone. Type ${me.email} to delete the account: `);
  if (typed.trim().toLowerCase() !== me.email) throw new UsageError('this is not the address of the account');
  const proof = await askPassword(me);
  await stepUp(client, me);
  if (path !== undefined) await save(flags, path);
  await client.accounts.deleteMe({ body: proof });
  await forget(flags, url);
  console.log(`The account of ${me.email} is being deleted`);
}

// Streamed to the file: an account's data may not fit in memory.
async function save(flags: Flags, path: string): Promise<void> {
  const passphrase = await askSecret('A passphrase for the secrets in the file, at least 12 characters: ');
  const { url, token } = await authorize(flags);
  const response = await fetch(new URL('/v1/me/download', url), {
    method: 'POST',
    headers: { Authorization: `Bearer ${await token()}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ passphrase }),
  });
  if (!response.ok || !response.body) {
    const { detail, code } = (await response.json().catch(() => ({}))) as { detail?: string; code?: string };
    throw new UsageError(
      `the download was refused: ${code ?? response.status}${detail ? `, ${detail}` : ''}`,
    );
  }
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  try {
    await pipeline(Readable.fromWeb(response.body as never), file);
  } catch (error) {
    // An existing file is kept.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(path, { force: true });
    throw error;
  }
  console.log(`Everything is in ${path}; stak import takes it`);
}
