import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as limits from '../../limits.ts';
import { createPasswords } from './passwords.ts';

const cheap = { logN: 4, r: 8, p: 1 };

describe('passwords', () => {
  const passwords = createPasswords({ cost: cheap });

  it('match themselves and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), async (one, other) => {
        const stored = await passwords.hash(one);
        expect(await passwords.verify(one, stored)).toBe(true);
        expect(await passwords.verify(other, stored)).toBe(one.normalize('NFC') === other.normalize('NFC'));
      }),
      { numRuns: 50 },
    );
  });

  it('match in any Unicode normalisation, and are salted each time', async () => {
    const stored = await passwords.hash('caf\u00e9 au lait');
    expect(await passwords.verify('cafe\u0301 au lait', stored)).toBe(true);
    expect(await passwords.hash('caf\u00e9 au lait')).not.toBe(stored);
  });

  it('match nothing that is not our hash', async () => {
    const [, , , salt, hash] = (await passwords.hash('secret words')).split('$');
    for (const stored of [
      undefined,
      '',
      'secret words',
      '$2b$12$abcdefghijklmnopqrstuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu',
      `$scrypt$ln=30,r=8,p=1$${salt}$${hash}`,
      `$scrypt$ln=4,r=99,p=1$${salt}$${hash}`,
      `$scrypt$ln=4,r=8,p=1$${salt}$`,
      `$scrypt$ln=4,r=8,p=1$${salt}$AAAA`,
    ])
      expect(await passwords.verify('secret words', stored)).toBe(false);
  });

  it('recognise a hash of another cost', async () => {
    const costlier = createPasswords({ cost: { ...cheap, logN: 5 } });
    const stored = await passwords.hash('secret words');
    expect(passwords.isOutdated(stored)).toBe(false);
    expect(costlier.isOutdated(stored)).toBe(true);
    expect(await costlier.verify('secret words', stored)).toBe(true);
  });

  it('have OWASP’s recommended cost by default', async () => {
    const stored = await createPasswords().hash('secret words');
    expect(stored).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$/);
  });

  it('are hashed a few at a time, and a flood is refused', async () => {
    const most = limits.hashesAtOnce + limits.hashesWaiting;
    const results = await Promise.allSettled(
      Array.from({ length: most + 10 }, () => passwords.verify('guess', undefined)),
    );
    const refused = results.filter(one => one.status === 'rejected');
    expect(refused).toHaveLength(10);
    for (const one of refused) expect(one.reason).toMatchObject({ code: 'accounts.busy' });
    expect(await passwords.verify('guess', undefined)).toBe(false);
  });
});
