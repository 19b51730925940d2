import type { Client } from '@stak/client';
import { ask } from '../prompt.ts';

// Prompts with which people prove who they are.

export const askSecret = (question: string): Promise<string> => ask(question, { isSecret: true });

export const askCode = async (): Promise<string> =>
  (await ask('Code from your authenticator app, or a recovery code: ')).trim();

// People without a password are not asked for one: the server requires a recent sign-in instead.
export const askPassword = async ({ hasPassword }: { hasPassword: boolean }) =>
  hasPassword ? { password: await askSecret('Password: ') } : {};

/** Verifies the second factor again, for operations that require a recent one. Does nothing without a factor. */
export async function stepUp(client: Client, { secondFactor }: { secondFactor: boolean }): Promise<void> {
  if (secondFactor) await client.accounts.stepUp({ body: { code: await askCode() } });
}

export const readMe = async ({ accounts }: Client) => (await accounts.getMe()).data;
