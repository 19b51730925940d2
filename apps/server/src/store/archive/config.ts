import {
  type Environment,
  readStoreConfig,
  type ServerConfig,
  type StoreFlags,
  serverVariables,
  withoutEmpty,
} from '../../config/config.ts';
import { UsageError } from '../../config/errors.ts';

export type ArchiveConfig = Pick<ServerConfig, 'secretKeys' | 'store'> & { passphrase?: string };

// For exports and imports: the store, and the keys for its secrets there and in the archive.
export function readArchiveConfig(flags: StoreFlags, given: Environment): ArchiveConfig {
  const env = withoutEmpty(given);
  const { data: secretKeys, error } = serverVariables.STAK_SECRET_KEYS.safeParse(env.STAK_SECRET_KEYS);
  if (error)
    throw new UsageError('STAK_SECRET_KEYS needs id:secret, where secret is 32 random bytes in base64');
  return {
    store: readStoreConfig(flags, env),
    secretKeys,
    ...(env.STAK_ARCHIVE_PASSPHRASE !== undefined && { passphrase: env.STAK_ARCHIVE_PASSPHRASE }),
  };
}
