import { ignoreConflict, write } from '@stak/table';
import type { ApiKeys } from '../../access/api-keys.ts';
import type { Audit } from '../../audit.ts';
import { type Base, isoTime } from '../../deps.ts';
import { userNotFound } from '../../errors.ts';
import { apiKey, apiKeyHash, type Profile, profile } from '../../main-table.ts';
import type { PlanName } from '../../plans.ts';
import { emailSchema } from '../../schema.ts';
import type { Users } from '../../users/users.ts';
import { resetS } from '../credentials/limits.ts';
import { newToken, tokenSteps } from '../credentials/mailed-tokens.ts';
import { factorErasure } from '../credentials/tables.ts';
import type { Sessions } from '../sessions/sessions.ts';

// Operators who have access to the store alone recover an account without mail, and stop abuse. The account's audit
// trail records each action, by `operator`.
export type Operators = {
  find(idOrEmail: string): Promise<Profile>;
  setPlan(userId: string, plan: PlanName): Promise<void>;
  verify(userId: string): Promise<void>;
  // A token with which its owner chooses a new password, for an hour. It does not prove their address: no mail had it.
  issueReset(userId: string): Promise<string>;
  // For a person who lost their phone and recovery codes: removes the app, all passkeys and codes.
  removeFactor(userId: string): Promise<void>;
  // Blocks sign-in and API keys until the account is enabled again. Its data stays.
  disable(userId: string): Promise<void>;
  enable(userId: string): Promise<void>;
};

type OperatorsDeps = Base & { users: Users; sessions: Sessions; apiKeys: ApiKeys; audit: Audit };

export function createOperators(deps: OperatorsDeps): Operators {
  const { store, clock, users, sessions, apiKeys, audit } = deps;
  const entry = (userId: string, action: string, detail?: string) => ({
    audit: audit.step(userId, { action, via: 'operator', detail }),
  });

  // Keys are checked without reading the account, so each key stores the state itself.
  const markKeys = async (userId: string, isDisabled: boolean): Promise<void> => {
    const change = isDisabled ? { set: { isDisabled } } : { remove: ['isDisabled'] as ['isDisabled'] };
    for (const { keyId, keyHash } of await apiKeys.listByUser(userId))
      await store
        .transact(
          {
            'the key': write.update(apiKey, { userId, keyId }, change),
            'its hash': write.update(apiKeyHash, { keyHash }, change),
          },
          { pattern: 'disable or enable a key' },
        )
        .catch(ignoreConflict);
  };

  return {
    async find(idOrEmail) {
      const email = emailSchema.safeParse(idOrEmail);
      const found = email.success
        ? await users.findProfile('email', email.data)
        : await store.get(profile, { userId: idOrEmail }, { consistent: true });
      if (!found) throw userNotFound();
      return found;
    },
    async setPlan(userId, plan) {
      await users.update(userId, { plan, planFixed: true }, { also: entry(userId, 'plan.changed', plan) });
    },
    async verify(userId) {
      await users.update(userId, { emailVerified: true }, { also: entry(userId, 'email.verified') });
    },
    async issueReset(userId) {
      const user = await users.readProfile(userId);
      if (!user) throw userNotFound();
      const { text, hash } = newToken(userId);
      const made = { userId, purpose: 'reset' as const, hash, email: user.email, lifeS: resetS };
      const steps = {
        ...tokenSteps(deps, { ...made, isHandedOver: true }),
        ...entry(userId, 'password.reset_requested'),
      };
      await store.transact(steps, { pattern: 'issue a password reset' });
      return text;
    },
    async removeFactor(userId) {
      const gone = await factorErasure(store, userId);
      const also = { ...gone, ...entry(userId, 'factor.changed', 'removed') };
      await users.update(userId, { secondFactor: null, passkeys: null }, { also });
    },
    async disable(userId) {
      const disabledAt = isoTime(clock.now());
      await users.update(userId, { disabledAt }, { also: entry(userId, 'account.disabled') });
      // Also those of others: members of the account, and keys that the person made in other organisations.
      sessions.forgetAll();
      apiKeys.forgetAll();
      await sessions.revokeAll(userId);
      await markKeys(userId, true);
      apiKeys.forgetAll();
    },
    async enable(userId) {
      await markKeys(userId, false);
      await users.update(userId, { disabledAt: null }, { also: entry(userId, 'account.enabled') });
    },
  };
}
