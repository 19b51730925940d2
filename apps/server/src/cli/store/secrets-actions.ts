import { createAccounts } from '@stak/accounts';
import { createIds, createLogger, createSealer, type Sealer, systemClock } from '@stak/kit';
import { createStore } from '@stak/table';
import { loadEnvFile, readServerConfig } from '../../config/config.ts';
import { UsageError } from '../../config/errors.ts';
import { explainSeal, readSecretKeys, type SecretKey } from '../../config/secrets.ts';
import type { Database } from '../../store/database.ts';
import { designs } from '../../store/designs.ts';
import { findSealedValues, keyIdOf, resealValue } from '../../store/sealed-values.ts';
import { visitDatabase } from '../../store/visit.ts';
import type { FlagsOf } from '../action.ts';
import { printJson, printTable } from '../print.ts';
import type { options } from './secrets.ts';

type Flags = FlagsOf<typeof options>;

type OpenSecrets = { database: Database; keys: readonly SecretKey[]; sealer: Sealer };

export const actions = {
  status: (flags: Flags) => withOpened(flags, opened => status(opened, flags.json === true)),
  reseal: (flags: Flags) => withOpened(flags, reseal),
  rotate: (flags: Flags) => withOpened(flags, opened => rotate(opened, flags.revoke === true)),
};

async function status({ database, keys }: OpenSecrets, asJson: boolean): Promise<void> {
  const counts = new Map(keys.map(({ id }) => [id, 0]));
  for await (const { sealed } of findSealedValues(database.client, designs))
    counts.set(keyIdOf(sealed), (counts.get(keyIdOf(sealed)) ?? 0) + 1);
  const isKnown = (id: string) => keys.some(key => key.id === id);
  if (asJson) return printJson([...counts].map(([key, values]) => ({ key, values, isKnown: isKnown(key) })));
  const rows = [...counts].map(([id, count]) => [id, String(count), isKnown(id) ? '' : 'is missing']);
  printTable([['key', 'values', ''], ...rows]);
}

async function reseal({ database: { client }, sealer }: OpenSecrets): Promise<void> {
  const counts = { resealed: 0, changed: 0, unopened: 0 };
  for await (const value of findSealedValues(client, designs)) {
    if (!sealer.isStale(value.sealed)) continue;
    const outcome = await resealValue(client, sealer, value);
    counts[outcome] += 1;
    if (outcome === 'unopened')
      console.error(`${value.table} ${Object.values(value.key).join(' ')} ${value.attribute} does not open`);
  }
  console.log(`${counts.resealed} values were sealed again`);
  if (counts.changed > 0) console.log(`${counts.changed} were changed meanwhile: do it once more`);
  if (counts.unopened > 0) throw new UsageError(`${counts.unopened} values do not open: keep the old keys`);
}

// Running servers notice within a minute.
async function rotate({ database, sealer }: OpenSecrets, revoke: boolean): Promise<void> {
  const clock = systemClock;
  const { rotateSigningKeys } = createAccounts({
    store: createStore({ client: database.client, clock }),
    clock,
    ids: createIds({ clock }),
    log: createLogger({ level: 'silent' }),
    sealer,
    publicUrl: 'http://localhost', // signs nothing here
  });
  await rotateSigningKeys({ revoke }).catch(explainSeal);
  const old = revoke ? 'What the last one signed is refused' : 'What the last one signed stays good';
  console.log(`The next key signs tokens from now on. ${old}; servers notice within a minute.`);
}

async function withOpened(flags: Flags, work: (opened: OpenSecrets) => Promise<void>): Promise<void> {
  loadEnvFile();
  const config = readServerConfig({ path: flags.path });
  await visitDatabase(config.store, 'there are no tables here: no server has ever run', async database => {
    const keys = await readSecretKeys(config, { isSecondary: true });
    await work({ database, keys, sealer: createSealer({ keys }) });
  });
}
