import type { CAC } from 'cac';
import { UsageError } from '../../config/errors.ts';
import { readText } from '../../config/flags.ts';
import { declareActions, loadConnection, runAction } from '../action.ts';
import type { ConnectFlags } from '../connection.ts';

type TenantFlags = ConnectFlags & { id?: unknown; name?: unknown; json?: unknown };
type TokenFlags = ConnectFlags & { tenant?: unknown; user?: unknown; scope?: unknown; ttl?: unknown };

const actions = {
  list,
  create,
  show,
  activate: (flags: TenantFlags, id: string | undefined) => become(flags, id, 'active'),
  suspend: (flags: TenantFlags, id: string | undefined) => become(flags, id, 'suspended'),
  delete: remove,
};

export function registerTenants(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'tenants <action> [id]', 'Your tenants', {
    list: 'List your tenants',
    create: 'Create a tenant, active at once',
    show: 'Show a tenant and its settings',
    activate: 'Activate a tenant',
    suspend: 'Suspend a tenant: its users are refused',
    delete: 'Delete a tenant and everything in it',
  })
    .option('--url <url>', 'The server (default: that of this folder, or the last one signed in to)')
    .option('--id <id>', 'create: its id (default: generated)')
    .option('--name <name>', 'create: its name')
    .option('--json', 'list: print JSON')
    .example('stak tenants create --id acme --name "Acme Inc."')
    .example('stak tenants suspend acme')
    .action((action: string, id: string | undefined, flags: TenantFlags) =>
      runAction('tenants', actions, action, flags, id),
    );
  declareActions<'mint'>(cli, 'tokens <action>', 'Tokens of end users', {
    mint: 'Create a short-lived token for a user of a tenant',
  })
    .option('--url <url>', 'The server (default: that of this folder, or the last one signed in to)')
    .option('--tenant <id>', 'The tenant of the user')
    .option('--user <id>', 'The user')
    .option('--scope <scope>', 'The scopes, separated by spaces or commas (default: inbox:read inbox:write)')
    .option('--ttl <seconds>', 'How long it is valid, in seconds (default: an hour)')
    .example('stak tokens mint --tenant acme --user ann')
    .example('stak tokens mint --tenant acme --user ann --scope tasks:read,tasks:write')
    .action((action: string, flags: TokenFlags) => runAction('tokens', { mint }, action, flags));
}

async function list(flags: TenantFlags): Promise<void> {
  const { connect, iterate, printJson, printTable, takeFirst } = await load();
  const { client } = await connect(flags);
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
  const { connect, printJson } = await load();
  const { client } = await connect(flags);
  const name = readText('--name', flags.name);
  const id = flags.id === undefined ? {} : { tenant_id: readText('--id', flags.id) };
  const { data } = await client.tenants.create({ body: { ...id, name, status: 'active' } });
  printJson(data);
}

async function show(flags: TenantFlags, id: string | undefined): Promise<void> {
  const tenant_id = idOf(id);
  const { connect, printJson } = await load();
  const { client } = await connect(flags);
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
  const { connect } = await load();
  const { client } = await connect(flags);
  const { data } = await client.tenants.update({ tenant_id, body: { status } });
  console.log(`${data.tenant_id} is ${data.status}`);
}

async function remove(flags: TenantFlags, id: string | undefined): Promise<void> {
  const tenant_id = idOf(id);
  const { connect } = await load();
  const { client } = await connect(flags);
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
  const { connect } = await load();
  const { client } = await connect(flags);
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

const load = async () => ({ ...(await loadConnection()), ...(await import('@stak/client')) });
