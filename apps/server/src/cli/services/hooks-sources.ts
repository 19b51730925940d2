import type { Client } from '@stak/client';
import { UsageError } from '../../config/errors.ts';
import { readOptional, readText } from '../../config/flags.ts';
import { connect } from '../connection.ts';
import { printJson, printTable } from '../print.ts';
import type { HookFlags } from './hooks-actions.ts';

type ListedSource = Awaited<ReturnType<Client['webhooks']['listSources']>>['data']['data'][number];
type NewSource = Parameters<Client['webhooks']['createSource']>[0]['body'];

export async function sources(flags: HookFlags): Promise<void> {
  const { client } = await connect(flags);
  if (flags.create !== undefined) {
    const signingSecret = readOptional('--secret', flags.secret);
    const { data } = await client.webhooks.createSource({
      body: {
        name: readText('--create', flags.create),
        provider: readOptional('--provider', flags.provider) as NewSource['provider'],
        signingSecret,
        signatures: signingSecret === undefined ? undefined : 'reject',
      },
    });
    return printJson(data);
  }
  const { data } = await client.webhooks.listSources();
  if (flags.json) return printJson(data.data);
  const rows = data.data.map(source => [
    source.sourceId,
    source.name,
    source.provider,
    source.status,
    `${source.eventCount}`,
    source.ingestUrl ?? '',
  ]);
  printTable(
    [['id', 'name', 'provider', 'status', 'events', 'address'], ...rows],
    'There are no sources yet: stak hooks sources --create shop',
  );
}

export async function connections(flags: HookFlags): Promise<void> {
  const { client } = await connect(flags);
  const { sourceId } = await findSource(client, flags.source);
  if (flags.create !== undefined) {
    const name = readText('--create', flags.create);
    const destinationUrl = readText('--destination', flags.destination);
    const { data } = await client.webhooks.createConnection({ sourceId, body: { name, destinationUrl } });
    console.error('This is the only time its signing secret is shown:');
    return printJson(data);
  }
  const { data } = await client.webhooks.listConnections({ sourceId });
  if (flags.json) return printJson(data.data);
  const rows = data.data.map(source => [
    source.connectionId,
    source.name,
    source.breaker === 'closed' ? source.status : `${source.status}, breaker ${source.breaker}`,
    `${source.deliveryCount}`,
    `${source.failureCount}`,
    source.destinationUrl,
  ]);
  printTable(
    [['id', 'name', 'status', 'delivered', 'failed', 'destination'], ...rows],
    'It has no connection yet: add --create orders --destination https://example.com/hooks',
  );
}

// Finds a source by id or name.
export async function findSource(client: Client, given: unknown): Promise<ListedSource> {
  const wanted = readText('--source', given);
  const { data } = await client.webhooks.listSources();
  const byId = data.data.find(source => source.sourceId === wanted);
  const byName = data.data.filter(source => source.name === wanted);
  const found = byId ?? byName[0];
  if (!found) throw new UsageError(`there is no source ${JSON.stringify(wanted)}; see stak hooks sources`);
  if (!byId && byName.length > 1)
    throw new UsageError(
      `${byName.length} sources are called ${JSON.stringify(wanted)}; give the id of one, see stak hooks sources`,
    );
  return found;
}
