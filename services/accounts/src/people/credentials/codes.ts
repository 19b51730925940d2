import { randomInt } from 'node:crypto';
import type { Sealer } from '@stak/kit';
import { type WriteStep, write } from '@stak/table';
import { type Base, sha256 } from '../../deps.ts';
import { accountsErrors } from '../../errors.ts';
import * as limits from '../../limits.ts';
import { type Authenticator, authenticator } from './tables.ts';
import { matchCode } from './totp.ts';

export type Codes = {
  // For the transaction that the code authorises. It fails at the step `the code` if the code was used meanwhile.
  useSteps(userId: string, code: string): Promise<Record<string, WriteStep>>;
  read(userId: string): Promise<Authenticator | undefined>;
  // The time step that the code belongs to, if it is valid.
  match(authenticator: Authenticator, code: string): number | undefined;
  seal(userId: string, secret: Uint8Array): string;
};

export const codeWrong = () =>
  accountsErrors.create(
    'accounts.code_wrong',
    'The code is wrong or has already been used. Wait for the next one.',
  );

const letters = 'abcdefghjkmnpqrstuvwxyz23456789'; // no letters or digits that are easily confused

// Ten codes of 49 bits. Each works once.
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: limits.recoveryCodes }, () => {
    const text = Array.from({ length: 10 }, () => letters[randomInt(letters.length)]).join('');
    return `${text.slice(0, 5)}-${text.slice(5)}`;
  });

const plain = (code: string): string => code.toLowerCase().replaceAll(/[\s-]/g, '');
export const recoveryHash = (code: string): string => sha256(plain(code));

export function createCodes({
  store,
  clock,
  sealer,
}: Pick<Base, 'store' | 'clock'> & { sealer: Sealer }): Codes {
  const sealLocation = (userId: string) => `ferryhook-main/USER#${userId}/AUTHENTICATOR/sealedSecret`;
  const read = (userId: string) => store.get(authenticator, { userId }, { consistent: true });

  const match: Codes['match'] = ({ userId, sealedSecret, lastStep }, code) =>
    sealedSecret !== undefined && /^\d{6}$/.test(plain(code))
      ? matchCode(sealer.open(sealedSecret, sealLocation(userId)), plain(code), clock.now(), lastStep)
      : undefined;

  return {
    read,
    match,
    seal: (userId, secret) => sealer.seal(secret, sealLocation(userId)),
    async useSteps(userId, code): Promise<Record<string, WriteStep>> {
      const found = await read(userId);
      if (!found) throw codeWrong();
      // An app can be used once it has been confirmed with a first code.
      const lastStep = found.confirmedAt === undefined ? undefined : match(found, code);
      const left = found.codeHashes.filter(hash => hash !== recoveryHash(code));
      if (lastStep === undefined && left.length === found.codeHashes.length) throw codeWrong();
      const used = lastStep === undefined ? { codeHashes: left } : { lastStep };
      const set = { ...used, uses: found.uses + 1 };
      return {
        'the code': write.update(authenticator, { userId }, { set }, { if: { uses: found.uses } }),
      };
    },
  };
}
