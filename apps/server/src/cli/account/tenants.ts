import { UsageError } from '../../config/errors.ts';
import { readText } from '../../config/flags.ts';
import { connectLate, defineCommand, type FlagsOf, serverOption } from '../action.ts';

const actions = {
  list,
  create,
  show,
  activate: (flags: TenantFlags, id: string | undefined) => become(flags, id, 'active'),
  suspend: (flags: TenantFlags, id: string | undefined) => become(flags, id, 'suspended'),
  delete: remove,
};

const options = {
  ...serverOption,
  '--id <id>': 'create: its id (default: generated)',
  '--name <name>': 'create: its name',
  '--json': 'list: print JSON',
} as const;

type TenantFlags = FlagsOf<typeof options>;

export const registerTenants = defineCommand('tenants <action> [id]', {
  title: 'Your tenants',
  actions: {
    list: 'List your tenants',
    create: 'Create a tenant, active at once',
    show: 'Show a tenant and its settings',
    activate: 'Activate a tenant',
    suspend: 'Suspend a tenant: its users are refused',
    delete: 'Delete a tenant and everything in it',
  },
  options,
  examples: ['stak tenants create --id acme --name "Acme Inc."', 'stak tenants suspend acme'],
  load: async () => ({ actions }),
});

const tokenOptions = {
  ...serverOption,
  '--tenant <id>': 'The tenant of the user',
  '--user <id>': 'The user',
  '--scope <scope>': 'The scopes, separated by spaces or commas (default: inbox:read inbox:write)',
  '--ttl <seconds>': 'How long it is valid, in seconds (default: an hour)',
} as const;

type TokenFlags = FlagsOf<typeof tokenOptions>;

export const registerTokens = defineCommand('tokens <action>', {
  title: 'Tokens of end users',
  actions: {
    mint: 'Create a short-lived token for a user of a tenant',
  },
  options: tokenOptions,
  examples: [
    'stak tokens mint --tenant acme --user ann',
    'stak tokens mint --tenant acme --user ann --scope tasks:read,tasks:write',
  ],
  load: async () => ({ actions: { mint } }),
});

async function list(flags: TenantFlags): Promise<void> {
  const { client, iterate, printJson, printTable, takeFirst } = await connectLate(flags);
  const tenants = await takeFirst(iterate(client.tenants.list), Number.POSITIVE_INFINITY);
  if (flags.json) return printJson(tenants);
  const rows = tenants.map(({ tenant_id, name, status, created_at }) => [
    tenant_id,
    name,
    status,
    created_at,
  ]);
  printTable(
    [['id', 'name', 'status', 'created'], ...rows],
    'There are no tenants yet: stak tenants create --id acme --name "Acme Inc."',
  );
}

async function create(flags: TenantFlags): Promise<void> {
  const { client, printJson } = await connectLate(flags);
  const name = readText('--name', flags.name);
  const id = flags.id === undefined ? {} : { tenant_id: readText('--id', flags.id) };
  const { data } = await client.tenants.create({ body: { ...id, name, status: 'active' } });
  printJson(data);
}

async function show(flags: TenantFlags, id: string | undefined): Promise<void> {
  const tenant_id = idOf(id);
  const { client, printJson } = await connectLate(flags);
  const { data: tenant } = await client.tenants.get({ tenant_id });
  const { data: settings } = await client.tenants.getSettings({ tenant_id });
  printJson({ ...tenant, settings });
}

async function become(
  flags: TenantFlags,
  id: string | undefined,
  status: 'active' | 'suspended',
): Promise<void> {
  const tenant_id = idOf(id);
  const { client } = await connectLate(flags);
  const { data } = await client.tenants.update({ tenant_id, body: { status } });
  console.log(`${data.tenant_id} is ${data.status}`);
}

async function remove(flags: TenantFlags, id: string | undefined): Promise<void> {
  const tenant_id = idOf(id);
  const { client } = await connectLate(flags);
  const { data: begun } = await client.tenants.delete({ tenant_id });
  const { erasure_id } = begun;
  console.log(`${tenant_id} is closed; its data is being erased (${erasure_id})`);
  let reported = -1;
  for (let erasure = begun; erasure.status !== 'done'; ) {
    await new Promise(resolve => setTimeout(resolve, progressMs));
    ({ data: erasure } = await client.tenants.getErasure({ tenant_id, erasure_id }));
    const done = erasure.steps_done.length;
    if (done !== reported) console.log(`${done} of ${erasure.steps.length} services are done`);
    reported = done;
  }
}

const progressMs = 500;

async function mint(flags: TokenFlags): Promise<void> {
  const tenant_id = readText('--tenant', flags.tenant);
  const sub = readText('--user', flags.user);
  const ttl_seconds = flags.ttl === undefined ? undefined : Number(flags.ttl);
  if (ttl_seconds !== undefined && !Number.isInteger(ttl_seconds))
    throw new UsageError('--ttl needs a number of seconds');
  const scope = flags.scope === undefined ? undefined : readText('--scope', flags.scope).replaceAll(',', ' ');
  const { client } = await connectLate(flags);
  const { data } = await client.tenants.mintToken({
    tenant_id,
    body: { sub, ...(scope !== undefined && { scope }), ...(ttl_seconds !== undefined && { ttl_seconds }) },
  });
  console.error(`For ${sub} of ${tenant_id}, until ${data.expires_at}:`);
  console.log(data.token);
}

function idOf(id: string | undefined): string {
  if (id === undefined) throw new UsageError('which tenant? see stak tenants list');
  return id;
}
