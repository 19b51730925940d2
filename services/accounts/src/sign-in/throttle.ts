import { addressKey } from '@stak/http';
import { is, tableErrors } from '@stak/table';
import { type Base, inSeconds, sha256 } from '../deps.ts';
import { accountsErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import * as apps from '../oauth-server/limits.ts';
import * as recovery from '../recovery/limits.ts';
import { attemptCount, knownNetwork } from '../table.ts';

type ThrottlePolicy = { attempts: number; windowS: number };
export type ThrottlePolicies = Record<
  'account' | 'address' | 'signUp' | 'mailTo' | 'mailToAll' | 'mailFrom' | 'invitations' | 'token' | 'client',
  ThrottlePolicy
>;

const throttlePolicies: ThrottlePolicies = {
  account: { attempts: limits.attemptsPerAccount, windowS: limits.attemptWindowS },
  address: { attempts: limits.attemptsPerAddress, windowS: limits.attemptWindowS },
  signUp: { attempts: limits.signUpsPerAddress, windowS: limits.signUpWindowS },
  mailTo: { attempts: recovery.mailsPerAddress, windowS: recovery.mailWindowS },
  mailToAll: { attempts: recovery.mailsPerAddressOfAll, windowS: recovery.mailWindowS },
  mailFrom: { attempts: recovery.mailsPerCaller, windowS: recovery.mailWindowS },
  invitations: { attempts: recovery.invitationsPerAccount, windowS: recovery.mailWindowS },
  token: { attempts: recovery.tokensTriedPerCaller, windowS: limits.attemptWindowS },
  client: { attempts: apps.clientsPerAddress, windowS: apps.clientWindowS },
};

type Attempt = { refund(): Promise<void> };

type Trier = { account: string; address: string | undefined };
type MailTried = {
  email: string;
  address: string | undefined;
  purpose: string;
  sender?: string; // who has it sent in their own name: each of them has a count of their own
};

export type Throttle = {
  // Someone tries a password. Counted before it is looked at, so that a hundred at once are a hundred.
  tryPassword(who: Trier): Promise<Attempt>;
  // Someone signed in. From there, strangers who guess at the account elsewhere do not keep them out.
  remember(who: Trier): Promise<void>;
  trySignUp(address: string | undefined): Promise<Attempt>;
  // Someone wants a mail to be sent, to an address that may be somebody else's. Counted for each purpose: or strangers who
  // have invitations sent to an address would keep its owner from a new password.
  tryMail(to: MailTried): Promise<Attempt>;
  // An account, or an admin of one of its tenants, invites somebody: backends do that for all from one address.
  tryInvitation(to: { email: string; account: string }): Promise<Attempt>;
  // Someone comes with the token of a mail.
  tryToken(address: string | undefined): Promise<Attempt>;
  // An app registers itself.
  tryRegistration(address: string | undefined): Promise<Attempt>;
};

type Place = { what: keyof ThrottlePolicies; whom: string };

// Counted in the table: several processes share the counts, and a restart forgets none.
export function createThrottle(base: Base & { policies?: Partial<ThrottlePolicies> }): Throttle {
  const { store, clock } = base;
  const policies = { ...throttlePolicies, ...base.policies };

  const take = async (places: readonly Place[]): Promise<Attempt> => {
    const keys = places.map(({ what, whom }) => ({
      what,
      whom: sha256(whom),
      window: Math.floor(inSeconds(clock.now()) / policies[what].windowS),
    }));
    for (const key of keys) {
      const { attempts, windowS } = policies[key.what];
      const endsAt = (key.window + 1) * windowS;
      // A window late, so that a clock that is behind does not find its count gone.
      const change = { add: { attempts: 1 }, set: { expiresAt: endsAt + windowS } };
      const counted = await store.update(attemptCount, key, change, {
        upsert: true,
        pattern: 'count attempt',
      });
      if (counted.attempts > attempts) throw tooMany(endsAt - inSeconds(clock.now()));
    }
    return {
      async refund() {
        for (const key of keys)
          await store
            .update(attemptCount, key, { add: { attempts: -1 } }, { if: { attempts: is.above(0) } })
            .catch(ignoreGone);
      },
    };
  };

  const placeOf = ({ account, address }: Trier): string => `${account} from ${addressKey(address)}`;

  return {
    async tryPassword(who) {
      const place = placeOf(who);
      const isKnown = await store.get(knownNetwork, { place: sha256(place) }, { consistent: true });
      return take([
        { what: 'address', whom: addressKey(who.address) },
        { what: 'account', whom: isKnown ? place : who.account },
      ]);
    },
    async remember(who) {
      const expiresAt = inSeconds(clock.now()) + limits.knownNetworkS;
      await store.put(knownNetwork, { place: sha256(placeOf(who)), expiresAt });
    },
    trySignUp: address => take([{ what: 'signUp', whom: addressKey(address) }]),
    tryMail: ({ email, address, purpose, sender }) =>
      take([{ what: 'mailFrom', whom: addressKey(address) }, ...placesOf(email, purpose, sender)]),
    tryInvitation: ({ email, account }) =>
      take([{ what: 'invitations', whom: account }, ...placesOf(email, 'invitation', account)]),
    tryToken: address => take([{ what: 'token', whom: addressKey(address) }]),
    tryRegistration: address => take([{ what: 'client', whom: addressKey(address) }]),
  };
}

// A sender's own count comes first: what it refuses does not use up what there is for all of them.
const placesOf = (email: string, purpose: string, sender: string | undefined): Place[] =>
  sender === undefined
    ? [{ what: 'mailTo', whom: `${purpose} ${email}` }]
    : [
        { what: 'mailTo', whom: `${purpose} ${email} by ${sender}` },
        { what: 'mailToAll', whom: `${purpose} ${email}` },
      ];

const tooMany = (retryAfterS: number) =>
  accountsErrors.create('accounts.too_many_attempts', 'Too many attempts. Wait before you try again.', {
    retryAfterS: Math.max(1, retryAfterS),
  });

function ignoreGone(error: unknown): void {
  if (!tableErrors.includes(error) || error.code !== 'table.condition_failed') throw error;
}
