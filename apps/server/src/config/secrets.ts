import { hkdfSync, randomBytes } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SealError, type Sealer } from '@stak/kit';
import type { ServerConfig } from './config.ts';
import { UsageError } from './errors.ts';

type KeyOptions = { isSecondary?: boolean }; // opens what a server has sealed, so a new key would be of no use
type KeyConfig = Pick<ServerConfig, 'secretKeys' | 'store'>;
export type SecretKey = { id: string; secret: Uint8Array };

const keyBytes = 32;
const shape = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]{43,}={0,2})$/;

// In the format of STAK_SECRET_KEYS.
export const readSecretKeyTexts = async (
  config: KeyConfig,
  options?: KeyOptions,
): Promise<readonly string[]> => config.secretKeys ?? [await developmentKey(config, options)];

// Values are sealed with the first key; the others still open what they have sealed.
export async function readSecretKeys(config: KeyConfig, options?: KeyOptions): Promise<readonly SecretKey[]> {
  const keys = (await readSecretKeyTexts(config, options)).map(text => parseSecretKey(text));
  const twice = keys.find(({ id }, i) => keys.findIndex(key => key.id === id) !== i);
  if (twice) throw new UsageError(`STAK_SECRET_KEYS has two keys with the id "${twice.id}"`);
  return keys;
}

export function parseSecretKey(text: string, setting = 'STAK_SECRET_KEYS'): SecretKey {
  const match = shape.exec(text);
  if (!match) throw new UsageError(`${setting} needs id:secret, where secret is 32 random bytes in base64`);
  const secret = Buffer.from(match[2]!, 'base64');
  if (secret.length < keyBytes || new Set(secret).size < keyBytes / 4)
    throw new UsageError(
      `the secret key "${match[1]}" is not random; make one with: openssl rand -base64 32`,
    );
  return { id: match[1]!, secret };
}

const secretKeyFile = (folder: string): string => join(folder, 'secret-key');

// A copy of a store without its key could not be opened. Returns false if the folder has none.
export async function copySecretKey(from: string, to: string): Promise<boolean> {
  if (!existsSync(secretKeyFile(from))) return false;
  await copyFile(secretKeyFile(from), secretKeyFile(to), constants.COPYFILE_EXCL).catch(ignoreExisting);
  return true;
}

export async function refuseOtherKey(from: string, to: string): Promise<void> {
  const files = [from, to].map(secretKeyFile);
  if (!files.every(file => existsSync(file))) return;
  const [key, other] = await Promise.all(files.map(file => readFile(file, 'utf8')));
  if (key !== other) throw new UsageError(`${to} has a secret-key of its own: choose another folder`);
}

// There is no default secret in the source: each data folder gets its own.
async function developmentKey(
  { store }: KeyConfig,
  { isSecondary = false }: KeyOptions = {},
): Promise<string> {
  const fresh = `local:${randomBytes(keyBytes).toString('base64')}`;
  if (store.kind !== 'embedded')
    throw new UsageError('STAK_STORE=aws needs STAK_SECRET_KEYS: several servers must share them');
  if (store.path === ':memory:') return fresh;
  const file = secretKeyFile(store.path);
  if (!existsSync(file)) {
    if (isSecondary)
      throw new UsageError(
        `set STAK_SECRET_KEYS to those of the server: ${store.path} has no file secret-key`,
      );
    await mkdir(store.path, { recursive: true, mode: 0o700 });
    const draft = `${file}.${randomBytes(6).toString('hex')}`;
    await writeFile(draft, fresh, { mode: 0o600 });
    // A link exists with all of its content or not at all: two servers that start at the same time agree on the first.
    await link(draft, file).catch(ignoreExisting);
    await rm(draft);
  }
  return (await readFile(file, 'utf8')).trim();
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

const refuse = (): never => {
  throw new Error('there are no secret keys here: set STAK_SECRET_KEYS to those of the server');
};

/** For work that seals and opens nothing. */
export const refusingSealer: Sealer = { seal: refuse, open: refuse, openText: refuse, isStale: refuse };

// A key for one purpose, which reveals nothing about the others.
export const deriveSecret = ({ secret }: SecretKey, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(), `stak ${purpose}`, keyBytes));

export function explainSeal(error: unknown): never {
  if (!(error instanceof SealError)) throw error;
  throw new UsageError(
    `${error.message}: STAK_SECRET_KEYS has to keep every key that something was sealed with; the one that a folder of data made itself is in its file secret-key`,
  );
}
