import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { is, tableErrors, type WriteStep, write } from '@stak/table';
import type { Audit } from '../../audit.ts';
import { type Base, inSeconds, isoTime, sha256 } from '../../deps.ts';
import { accountsErrors } from '../../errors.ts';
import * as limits from '../../limits.ts';
import type { Profile } from '../../main-table.ts';
import { type challengePurposes, type Passkey, passkey, passkeyChallenge, passkeysOfUser } from './tables.ts';

// A challenge is valid for one purpose. A response for another purpose, or from another user, is refused.
type ChallengeScope = { purpose: (typeof challengePurposes)[number]; userId?: string; sessionId?: string };
export type PasskeyAnswer = AuthenticationResponseJSON;
export type NewPasskeyAnswer = RegistrationResponseJSON;

export type PasskeyChecks = {
  list(userId: string): Promise<Passkey[]>;
  creationOptions(user: Profile, bound: ChallengeScope): Promise<PublicKeyCredentialCreationOptionsJSON>;
  requestOptions(bound: ChallengeScope, allowed?: Passkey[]): Promise<PublicKeyCredentialRequestOptionsJSON>;
  // Returns the new passkey, without a name.
  checkNew(
    answer: NewPasskeyAnswer,
    bound: ChallengeScope & { userId: string },
  ): Promise<Omit<Passkey, 'name'>>;
  // The user that the response claims to come from. Not verified until `use`.
  claimedUser(answer: PasskeyAnswer): string | undefined;
  // For the transaction that the passkey authorises. It fails at the step `the passkey` if the passkey was used
  // meanwhile.
  use(userId: string, answer: PasskeyAnswer, bound: ChallengeScope): Promise<Record<string, WriteStep>>;
};

// The same error for an unknown passkey, a wrong signature and an expired challenge.
export const passkeyRefused = (cause?: unknown) =>
  accountsErrors.create(
    'accounts.passkey_refused',
    'The passkey was not accepted. Try again, or sign in another way.',
    undefined,
    cause,
  );

const passkeyIdOf = (rawId: string): string => `pky_${sha256(rawId).slice(0, 32)}`;

// Loaded on first use: most servers have no passkeys.
const load = () => import('@simplewebauthn/server');
const algorithms = [-8, -7, -257]; // EdDSA, ES256, RS256: every browser and authenticator supports one of them

type ChecksDeps = Base & {
  audit: Audit;
  publicUrl: string;
  allowedOrigins?: readonly string[];
  name: string;
};

export function createPasskeyChecks(deps: ChecksDeps): PasskeyChecks {
  const { store, clock, audit, name: rpName } = deps;
  const site = siteOf(deps.publicUrl, deps.allowedOrigins ?? []);
  const requireSite = () => {
    if (site) return site;
    throw accountsErrors.create(
      'accounts.passkeys_unavailable',
      'Passkeys need a server with a domain name. This one is reached by an IP address.',
    );
  };

  const newChallenge = async ({
    purpose,
    userId,
    sessionId,
  }: ChallengeScope): Promise<Uint8Array<ArrayBuffer>> => {
    const challenge = randomBytes(32);
    const challengeHash = sha256(challenge.toString('base64url'));
    const expiresAt = inSeconds(clock.now()) + limits.challengeS;
    await store.put(passkeyChallenge, { challengeHash, purpose, userId, sessionId, expiresAt });
    return Uint8Array.from(challenge);
  };

  // Deleted before the response is verified, so that a challenge works once whatever the result.
  const takeChallenge = async (clientDataJSON: string, bound: ChallengeScope): Promise<string> => {
    const challenge = challengeIn(clientDataJSON);
    if (challenge === undefined) throw passkeyRefused();
    const { purpose, userId = is.absent, sessionId = is.absent } = bound;
    const isGood = { purpose, userId, sessionId, expiresAt: is.above(inSeconds(clock.now())) };
    const key = { challengeHash: sha256(challenge) };
    await store.delete(passkeyChallenge, key, { ifPresent: true, if: isGood }).catch(error => {
      throw tableErrors.includes(error) && error.code === 'table.condition_failed' ? passkeyRefused() : error;
    });
    return challenge;
  };

  const list = async (userId: string): Promise<Passkey[]> =>
    (await store.query(passkeysOfUser, { userId }, { limit: limits.passkeysPerUser })).items;

  return {
    list,

    async creationOptions(user, bound) {
      const { rpID } = requireSite();
      const { generateRegistrationOptions } = await load();
      const passkeys = await list(user.userId);
      return generateRegistrationOptions({
        rpName,
        rpID,
        userName: user.email,
        userDisplayName: user.name,
        userID: new TextEncoder().encode(user.userId),
        challenge: await newChallenge(bound),
        timeout: limits.challengeS * 1000,
        attestationType: 'none',
        excludeCredentials: passkeys.map(allow),
        // A passkey replaces user name and password: it must be discoverable and must verify the user by fingerprint,
        // face or PIN.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        supportedAlgorithmIDs: algorithms,
      });
    },

    async requestOptions(bound, allowed = []) {
      const { rpID } = requireSite();
      const { generateAuthenticationOptions } = await load();
      return generateAuthenticationOptions({
        rpID,
        challenge: await newChallenge(bound),
        timeout: limits.challengeS * 1000,
        allowCredentials: allowed.map(allow),
        userVerification: 'required',
      });
    },

    async checkNew(response, bound) {
      const { rpID, origins } = requireSite();
      const expectedChallenge = await takeChallenge(response.response.clientDataJSON, bound);
      const { verifyRegistrationResponse } = await load();
      const { registrationInfo } = await verifyRegistrationResponse({
        response,
        expectedChallenge,
        expectedOrigin: origins,
        expectedRPID: rpID,
        requireUserVerification: true,
        supportedAlgorithmIDs: algorithms,
      }).catch(error => {
        throw passkeyRefused(error);
      });
      if (!registrationInfo) throw passkeyRefused();
      const { credential, credentialBackedUp: isSynced } = registrationInfo;
      return {
        userId: bound.userId,
        passkeyId: passkeyIdOf(credential.id),
        rawId: credential.id,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        counter: credential.counter,
        transports: credential.transports ?? [],
        isSynced,
        createdAt: isoTime(clock.now()),
      };
    },

    claimedUser({ response: { userHandle } }) {
      const text = userHandle === undefined ? '' : Buffer.from(userHandle, 'base64url').toString();
      return /^usr_[A-Za-z0-9_-]{1,40}$/.test(text) ? text : undefined;
    },

    async use(userId, response, bound) {
      const { rpID, origins } = requireSite();
      const expectedChallenge = await takeChallenge(response.response.clientDataJSON, bound);
      const key = { userId, passkeyId: passkeyIdOf(response.id) };
      const storedPasskey = await store.get(passkey, key, { consistent: true });
      const { userHandle } = response.response;
      const isTheirs = userHandle === undefined || Buffer.from(userHandle, 'base64url').toString() === userId;
      if (!storedPasskey || !isTheirs) throw passkeyRefused();
      const { verifyAuthenticationResponse } = await load();
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response,
        expectedChallenge,
        expectedOrigin: origins,
        expectedRPID: rpID,
        requireUserVerification: true,
        // The counter is compared below, where its owner can be warned.
        credential: {
          id: storedPasskey.rawId,
          publicKey: Uint8Array.from(Buffer.from(storedPasskey.publicKey, 'base64url')),
          counter: 0,
        },
      }).catch(error => {
        throw passkeyRefused(error);
      });
      if (!verified) throw passkeyRefused();
      const { newCounter: counter, credentialBackedUp: isSynced } = authenticationInfo;
      // Passkeys that are synchronised between devices always report zero.
      if ((counter > 0 || storedPasskey.counter > 0) && counter <= storedPasskey.counter) {
        const detail = `The counter of the passkey “${storedPasskey.name}” went back: somebody may have a copy of it.`;
        const entry = { action: 'passkey.refused', via: 'passkey', by: null, target: key.passkeyId, detail };
        await audit.record(userId, entry);
        throw passkeyRefused();
      }
      const set = { counter, isSynced, lastUsedAt: isoTime(clock.now()) };
      return {
        'the passkey': write.update(passkey, key, { set }, { if: { counter: storedPasskey.counter } }),
      };
    },
  };
}

// The pages that may use our passkeys. Browsers accept no IP address as a relying party, so a server on this machine
// uses `localhost`.
function siteOf(
  publicUrl: string,
  allowedOrigins: readonly string[],
): { rpID: string; origins: string[] } | undefined {
  const url = new URL(publicUrl);
  const isLoopback = url.hostname === '127.0.0.1' || url.hostname === '[::1]';
  if (isLoopback) url.hostname = 'localhost';
  if (isIP(url.hostname.replaceAll(/[[\]]/g, '')) !== 0) return undefined;
  return { rpID: url.hostname, origins: [url.origin, ...allowedOrigins] };
}

function challengeIn(clientDataJSON: string): string | undefined {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString());
    const { challenge } = data as { challenge?: unknown };
    return typeof challenge === 'string' ? challenge : undefined;
  } catch {
    return undefined;
  }
}

const allow = ({ rawId: id, transports }: Passkey) => ({ id, transports });
