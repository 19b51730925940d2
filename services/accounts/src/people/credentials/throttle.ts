import { addressKey } from '@stak/http';
import { ignoreConflict, is } from '@stak/table';
import { type Base, inSeconds, sha256 } from '../../deps.ts';
import { accountsErrors } from '../../errors.ts';
import * as limits from '../../limits.ts';
import { attemptCount, knownNetwork } from '../../main-table.ts';
import * as attempts from './limits.ts';

type ThrottlePolicy = { attempts: number; windowS: number };
export type ThrottlePolicies = Record<
  'account' | 'address' | 'signUp' | 'mailTo' | 'mailToAll' | 'mailFrom' | 'invitations' | 'token' | 'client',
  ThrottlePolicy
>;

const throttlePolicies: ThrottlePolicies = {
  account: { attempts: limits.attemptsPerAccount, windowS: limits.attemptWindowS },
  address: { attempts: limits.attemptsPerAddress, windowS: limits.attemptWindowS },
  signUp: { attempts: limits.signUpsPerAddress, windowS: limits.signUpWindowS },
  mailTo: { attempts: attempts.mailsPerAddress, windowS: attempts.mailWindowS },
  mailToAll: { attempts: attempts.mailsPerAddressOfAll, windowS: attempts.mailWindowS },
  mailFrom: { attempts: attempts.mailsPerCaller, windowS: attempts.mailWindowS },
  invitations: { attempts: attempts.invitationsPerAccount, windowS: attempts.mailWindowS },
  token: { attempts: attempts.tokensTriedPerCaller, windowS: limits.attemptWindowS },
  client: { attempts: attempts.clientsPerAddress, windowS: attempts.clientWindowS },
};

type Attempt = { refund(): Promise<void> };

type Trier = { account: string; address: string | undefined };
type MailTried = {
  email: string;
  address: string | undefined;
  purpose: string;
  sender?: string; // the account on whose behalf it is sent: each sender is counted separately
};

export type Throttle = {
  // Counts an attempt at a password. Counted before the password is checked, so that concurrent attempts all count.
  tryPassword(who: Trier): Promise<Attempt>;
  // Records a successful sign-in. Failed guesses from elsewhere then do not lock the owner out at this address.
  remember(who: Trier): Promise<void>;
  trySignUp(address: string | undefined): Promise<Attempt>;
  // Counts a mail to an address that may be somebody else's. Counted by purpose: otherwise strangers could use
  // invitations to block the owner's password reset.
  tryMail(to: MailTried): Promise<Attempt>;
  // Counts an invitation by an account or an admin of one of its tenants. Not counted by caller, because a backend
  // sends all of them from one address.
  tryInvitation(to: { email: string; account: string }): Promise<Attempt>;
  // Counts an attempt at a token from a mail.
  tryToken(address: string | undefined): Promise<Attempt>;
  // Counts an app's registration.
  tryRegistration(address: string | undefined): Promise<Attempt>;
};

type Place = { what: keyof ThrottlePolicies; whom: string };

// Counts are in the table: processes share them, and they survive a restart.
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
      // Expires a window later than needed, so that a process whose clock is behind still finds the count.
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
            .catch(ignoreConflict);
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

// The sender's own count comes first: what it refuses does not use up the limit of all senders.
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
