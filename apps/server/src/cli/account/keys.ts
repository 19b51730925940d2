import { UsageError } from '../../config/errors.ts';
import { readMoment, readOptionalList, readText } from '../../config/flags.ts';
import { connectLate, defineCommand, type FlagsOf, serverOption } from '../action.ts';
import { stepUp } from './proof.ts';

const actions = { list, create, delete: remove };

const options = {
  ...serverOption,
  '--name <name>': 'create: what the key is for',
  '--scope <scope>': 'create: read, write or admin (default: write)',
  '--expires <time>': 'create: when it expires, such as 2027-01-01T00:00:00Z',
  '--tenant <ids>': 'create: limit it to these tenants, separated by commas',
  '--from <networks>': 'create: limit it to these networks, such as 192.0.2.0/24',
  '--json': 'list: print JSON',
} as const;
type Flags = FlagsOf<typeof options>;

export const registerKeys = defineCommand('keys <action> [id]', {
  title: 'Your API keys',
  actions: {
    list: 'All of them, with their scope and last use',
    create: 'Create a key. It is printed once',
    delete: 'Revoke a key',
  },
  options,
  examples: [
    'stak keys create --name production --scope write',
    'stak keys delete key_0mwhdlltm00iqb4e1zqzc3by',
  ],
  load: async () => ({ actions }),
});

async function list(flags: Flags): Promise<void> {
  const { client, printJson, printTable } = await connectLate(flags);
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

async function create(flags: Flags): Promise<void> {
  const { client } = await connectLate(flags);
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

async function remove(flags: Flags, id: string | undefined): Promise<void> {
  if (id === undefined) throw new UsageError('which key? see stak keys list');
  const { client } = await connectLate(flags);
  await client.accounts.deleteKey({ keyId: id });
  console.log(`${id} is refused from now on`);
}

function readScope(value: unknown): 'read' | 'write' | 'admin' {
  if (value === undefined) return 'write';
  if (value === 'read' || value === 'write' || value === 'admin') return value;
  throw new UsageError(`--scope is read, write or admin, not ${JSON.stringify(value)}`);
}
