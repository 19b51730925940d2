import { randomInt } from 'node:crypto';
import type { Sealer } from '@stak/kit';
import { type WriteStep, write } from '@stak/table';
import { type Base, sha256 } from '../deps.ts';
import { accountsErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { type Authenticator, authenticator } from './table.ts';
import { matchCode } from './totp.ts';

export type Codes = {
  // For the transaction of what the code is for; it fails at the step `the code` if somebody was faster with it.
  useSteps(userId: string, code: string): Promise<Record<string, WriteStep>>;
  read(userId: string): Promise<Authenticator | undefined>;
  // Which step of the app's the code is of, if it is one.
  match(found: Authenticator, code: string): number | undefined;
  seal(userId: string, secret: Uint8Array): string;
};

export const codeWrong = () =>
  accountsErrors.create(
    'accounts.code_wrong',
    'The code is wrong or has already been used. Wait for the next one.',
  );

const letters = 'abcdefghjkmnpqrstuvwxyz23456789'; // none that is taken for another

// Ten codes of 49 bits, each for one time.
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
      // An app counts from its first code on.
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
