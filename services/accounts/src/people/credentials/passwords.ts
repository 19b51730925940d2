import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { accountsErrors } from '../../errors.ts';
import * as limits from '../../limits.ts';

export type PasswordCost = { logN: number; r: number; p: number };

export type Passwords = {
  hash(password: string): Promise<string>;
  // Takes as long without a stored hash, so that the duration reveals nothing.
  verify(password: string, stored: string | undefined): Promise<boolean>;
  isOutdated(stored: string): boolean;
};

const hashBytes = 32;
const saltBytes = 16;
const base64 = '[A-Za-z0-9+/]+';
const storedShape = new RegExp(
  `^\\$scrypt\\$ln=(\\d{1,2}),r=(\\d{1,2}),p=(\\d{1,2})\\$(${base64})\\$(${base64})$`,
);
const defaultCost: PasswordCost = { logN: limits.scryptLogN, r: 8, p: 1 };

type StoredPassword = { cost: PasswordCost; salt: Buffer; hash: Buffer };

export function createPasswords({ cost = defaultCost }: { cost?: PasswordCost } = {}): Passwords {
  const queue = createQueue(limits.hashesAtOnce, limits.hashesWaiting);
  const derive = (password: string, salt: Buffer, { logN, r, p }: PasswordCost): Promise<Buffer> =>
    queue(() => scryptOf(password, salt, { N: 2 ** logN, r, p, maxmem: 256 * 2 ** logN * r }));
  const nobody: StoredPassword = { cost, salt: randomBytes(saltBytes), hash: randomBytes(hashBytes) };

  return {
    async hash(password) {
      const salt = randomBytes(saltBytes);
      const { logN, r, p } = cost;
      const hash = await derive(password, salt, cost);
      return `$scrypt$ln=${logN},r=${r},p=${p}$${unpadded(salt)}$${unpadded(hash)}`;
    },
    async verify(password, stored) {
      const parsed = stored === undefined ? undefined : parseStored(stored);
      const { cost: knownCost, salt, hash } = parsed ?? nobody;
      const derived = await derive(password, salt, knownCost);
      return derived.length === hash.length && timingSafeEqual(derived, hash) && parsed !== undefined;
    },
    isOutdated(stored) {
      const parsedCost = parseStored(stored)?.cost;
      return parsedCost?.logN !== cost.logN || parsedCost.r !== cost.r || parsedCost.p !== cost.p;
    },
  };
}

// Parses the PHC string format. A hash of another kind, or one too costly to be ours, matches nothing.
function parseStored(stored: string): StoredPassword | undefined {
  const match = storedShape.exec(stored);
  if (!match) return undefined;
  const [logN, r, p] = match.slice(1, 4).map(Number) as [number, number, number];
  if (logN < 1 || logN > limits.scryptLogNMost || r < 1 || r > 16 || p < 1 || p > 4) return undefined;
  const [salt, hash] = [Buffer.from(match[4]!, 'base64'), Buffer.from(match[5]!, 'base64')];
  return hash.length === hashBytes ? { cost: { logN, r, p }, salt, hash } : undefined;
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');

// The same text can be typed as different code points, which look the same.
const scryptOf = (password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, hashBytes, options, (error, derived) =>
      error ? reject(error) : resolve(derived),
    );
  });

// A flood of sign-ins waits in a bounded queue.
function createQueue(atOnce: number, mostWaiting: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) {
      if (waiting.length >= mostWaiting)
        throw accountsErrors.create(
          'accounts.busy',
          'Too many people are signing in. Try again in a moment.',
          { retryAfterS: 5 },
        );
      await new Promise<void>(resolve => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      // The next in the queue inherits the slot, so that no new caller gets in between.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
