import type { CAC } from 'cac';
import { UsageError } from '../../config/errors.ts';
import { readMoment, readOptionalList, readText } from '../../config/flags.ts';
import { declareActions, loadConnection, runAction } from '../action.ts';
import type { ConnectFlags } from '../connection.ts';
import { stepUp } from './proof.ts';

type KeyFlags = ConnectFlags & {
  name?: unknown;
  scope?: unknown;
  expires?: unknown;
  tenant?: unknown;
  from?: unknown;
  json?: unknown;
};

const actions = { list, create, delete: remove };

export function registerKeys(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'keys <action> [id]', 'Your API keys', {
    list: 'All of them, with their scope and last use',
    create: 'Create a key. It is printed once',
    delete: 'Revoke a key',
  })
    .option('--url <url>', 'The server (default: that of this folder, or the last one signed in to)')
    .option('--name <name>', 'create: what the key is for')
    .option('--scope <scope>', 'create: read, write or admin (default: write)')
    .option('--expires <time>', 'create: when it expires, such as 2027-01-01T00:00:00Z')
    .option('--tenant <ids>', 'create: limit it to these tenants, separated by commas')
    .option('--from <networks>', 'create: limit it to these networks, such as 192.0.2.0/24')
    .option('--json', 'list: print JSON')
    .example('stak keys create --name production --scope write')
    .example('stak keys delete key_0mwhdlltm00iqb4e1zqzc3by')
    .action((action: string, id: string | undefined, flags: KeyFlags) =>
      runAction('keys', actions, action, flags, id),
    );
}

async function list(flags: KeyFlags): Promise<void> {
  const { connect, printJson, printTable } = await loadConnection();
  const { client } = await connect(flags);
  const { data } = await client.accounts.listKeys();
  if (flags.json) return printJson(data.data);
  const rows = data.data.map(key => [
    key.keyId,
    key.name,
    `${key.keyPrefix}…`,
    key.permissions,
    key.lastUsedAt ?? 'never used',
    key.expiresAt ?? 'never',
  ]);
  printTable(
    [['id', 'name', 'key', 'scope', 'last used', 'expires'], ...rows],
    'There are no keys yet: stak keys create --name first',
  );
}

async function create(flags: KeyFlags): Promise<void> {
  const { connect } = await loadConnection();
  const { client } = await connect(flags);
  const name = readText('--name', flags.name);
  const expires = readMoment('--expires', flags.expires);
  const tenants = readOptionalList('--tenant', flags.tenant);
  const addresses = readOptionalList('--from', flags.from);
  const body = {
    name,
    permissions: readScope(flags.scope),
    ...(expires && { expiresAt: expires.toISOString() }),
    ...(tenants && { tenants }),
    ...(addresses && { addresses }),
  };
  // An admin key requires a recent second factor, if the account has one.
  const { data } = await client.accounts.createKey({ body }).catch(async error => {
    if (error?.code !== 'accounts.step_up_needed') throw error;
    await stepUp(client, { secondFactor: true });
    return client.accounts.createKey({ body });
  });
  console.error('This is the only time it is shown:');
  console.log(data.key);
}

async function remove(flags: KeyFlags, id: string | undefined): Promise<void> {
  if (id === undefined) throw new UsageError('which key? see stak keys list');
  const { connect } = await loadConnection();
  const { client } = await connect(flags);
  await client.accounts.deleteKey({ keyId: id });
  console.log(`${id} is refused from now on`);
}

function readScope(value: unknown): 'read' | 'write' | 'admin' {
  if (value === undefined) return 'write';
  if (value === 'read' || value === 'write' || value === 'admin') return value;
  throw new UsageError(`--scope is read, write or admin, not ${JSON.stringify(value)}`);
}
