import { UsageError } from '../../config/errors.ts';
import { type ConnectFlags, connect } from '../connection.ts';
import { printJson, printTable } from '../print.ts';
import { ask } from '../prompt.ts';
import { askPassword, readMe, stepUp } from './proof.ts';

type Flags = ConnectFlags & { json?: unknown };

// The second factors of a person: an authenticator app with recovery codes, and passkeys, which only browsers make.

export async function addAuthenticator(flags: Flags): Promise<void> {
  const { client } = await connect(flags);
  const me = await readMe(client);
  const proof = await askPassword(me);
  await stepUp(client, me);
  const { secret, uri } = (await client.accounts.beginAuthenticator({ body: proof })).data;
  console.log(`Add this to your authenticator app, as text or as an address:

  ${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}
  ${uri}
`);
  for (;;) {
    const code = (await ask('The code that it shows: ')).trim();
    const confirmed = await client.accounts.confirmAuthenticator({ body: { code } }).catch(error => {
      // Beginning again would make another secret, and the app knows this one by now.
      if (error?.code !== 'accounts.code_wrong') throw error;
      console.error('This code is wrong or too old.');
    });
    if (!confirmed) continue;
    printCodes(confirmed.data);
    return;
  }
}

export async function removeAuthenticator(flags: Flags): Promise<void> {
  const { client } = await connect(flags);
  const me = await readMe(client);
  const proof = await askPassword(me);
  await stepUp(client, me);
  await client.accounts.removeAuthenticator({ body: proof });
  console.log('Your authenticator app is removed');
}

export async function renewRecoveryCodes(flags: Flags): Promise<void> {
  const { client } = await connect(flags);
  await stepUp(client, await readMe(client));
  printCodes((await client.accounts.renewRecoveryCodes()).data);
}

function printCodes({ recoveryCodes }: { recoveryCodes: readonly string[] }): void {
  console.error('Recovery codes, for when you lose your factor. This is the only time they are shown:');
  console.log(recoveryCodes.join('\n'));
}

export async function passkeys(flags: Flags): Promise<void> {
  const { client, url } = await connect(flags);
  const { data } = (await client.accounts.listPasskeys()).data;
  if (flags.json) return printJson(data);
  const rows = data.map(passkey => [
    passkey.passkeyId,
    passkey.name,
    passkey.lastUsedAt ?? 'never used',
    passkey.createdAt,
  ]);
  const where = `Passkeys are added in a browser: ${new URL('/console/account?tab=security', url)}`;
  printTable([['id', 'name', 'last used', 'since'], ...rows], `There are no passkeys yet. ${where}`);
  if (data.length > 0) console.error(where);
}

export async function removePasskey(flags: Flags, passkeyId: string | undefined): Promise<void> {
  if (passkeyId === undefined) throw new UsageError('which passkey? see stak me passkeys');
  const { client } = await connect(flags);
  const me = await readMe(client);
  const proof = await askPassword(me);
  await stepUp(client, me);
  await client.accounts.removePasskey({ passkeyId, body: proof });
  console.log(`${passkeyId} is removed`);
}
