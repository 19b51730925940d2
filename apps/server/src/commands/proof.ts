import type { Client } from '@stak/client';
import { ask } from '../prompt.ts';

// What commands ask a person for who has to show that it is them.

export const askSecret = (question: string): Promise<string> => ask(question, { isSecret: true });

export const askCode = async (): Promise<string> =>
  (await ask('Code from your authenticator app, or a recovery code: ')).trim();

// Those who sign in without a password show nothing here: a recent sign-in is asked for instead.
export const askPassword = async ({ hasPassword }: { hasPassword: boolean }) =>
  hasPassword ? { password: await askSecret('Password: ') } : {};

/** What only somebody may do who has just shown their second factor, if they have one. */
export async function stepUp(client: Client, { secondFactor }: { secondFactor: boolean }): Promise<void> {
  if (secondFactor) await client.accounts.stepUp({ body: { code: await askCode() } });
}

export const readMe = async ({ accounts }: Client) => (await accounts.getMe()).data;
