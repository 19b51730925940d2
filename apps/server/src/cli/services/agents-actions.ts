import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { type ApiTypes, iterate } from '@stak/client';
import { UsageError } from '../../config/errors.ts';
import { readOptional, readText } from '../../config/flags.ts';
import type { FlagsOf } from '../action.ts';
import { connect } from '../connection.ts';
import { printJson, printTable } from '../print.ts';
import type { options } from './agents.ts';

type Flags = FlagsOf<typeof options>;

export const actions = {
  list,
  show,
  save,
  differences,
  publish,
  rollback,
  versions,
  delete: remove,
};

async function open(flags: Flags, name: string | undefined) {
  if (name === undefined) throw new UsageError('which agent? like stak agents show support --tenant acme');
  const { client } = await connect(flags);
  return { client, agent: { tenant_id: readText('--tenant', flags.tenant), name } };
}

function readVersion(flags: Flags): number | undefined {
  const given = readOptional('--version', flags.version);
  if (given === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(given)) throw new UsageError(`--version takes a number, not ${given}`);
  return Number(given);
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function list(flags: Flags): Promise<void> {
  const { client } = await connect(flags);
  const tenant_id = readText('--tenant', flags.tenant);
  const agents = await collect(iterate(client.agents.listAgents, { tenant_id, limit: 100 }));
  if (flags.json) return printJson(agents);
  printTable([
    ['name', 'version', 'draft', 'description'],
    ...agents.map(({ name, published_version, has_changes, is_settings, description }) => [
      name,
      is_settings ? 'settings' : String(published_version ?? '-'),
      has_changes ? 'changed' : '',
      description,
    ]),
  ]);
}

async function show(flags: Flags, name: string | undefined): Promise<void> {
  const version = readVersion(flags);
  const { client, agent } = await open(flags, name);
  if (version === undefined) return printJson((await client.agents.getAgent(agent)).data.draft);
  printJson((await client.agents.getAgentVersion({ ...agent, version })).data.definition);
}

async function save(flags: Flags, name: string | undefined): Promise<void> {
  const { client, agent } = await open(flags, name);
  const file = readOptional('--file', flags.file);
  if (file === undefined && process.stdin.isTTY) throw new UsageError('say which file to save with --file');
  const body = parseDefinition(file === undefined ? await text(process.stdin) : await readFile(file, 'utf8'));
  const { data } = await client.agents.saveAgent({ ...agent, body });
  console.log(data.has_changes ? 'saved; publish it to have it answer' : 'saved; it answers already');
}

function parseDefinition(json: string): ApiTypes['agents.saveAgent']['args']['body'] {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new UsageError(`the definition is not valid JSON: ${(error as Error).message}`);
  }
}

async function differences(flags: Flags, name: string | undefined): Promise<void> {
  const { client, agent } = await open(flags, name);
  printJson((await client.agents.getAgentDifferences(agent)).data.data);
}

async function publish(flags: Flags, name: string | undefined): Promise<void> {
  const { client, agent } = await open(flags, name);
  const note = readOptional('--note', flags.note);
  const { data } = await client.agents.publishAgent({ ...agent, body: { note } });
  console.log(`version ${data.published_version} answers`);
}

async function rollback(flags: Flags, name: string | undefined): Promise<void> {
  const version = readVersion(flags);
  if (version === undefined) throw new UsageError('say which version with --version');
  const { client, agent } = await open(flags, name);
  await client.agents.publishAgent({ ...agent, body: { version } });
  console.log(`version ${version} answers`);
}

async function versions(flags: Flags, name: string | undefined): Promise<void> {
  const { client, agent } = await open(flags, name);
  const all = await collect(iterate(client.agents.listAgentVersions, { ...agent, limit: 100 }));
  if (flags.json) return printJson(all);
  printTable([
    ['version', 'answers', 'created', 'note'],
    ...all.map(({ version, is_published, created_at, note }) => [
      String(version),
      is_published ? 'yes' : '',
      created_at,
      note ?? '',
    ]),
  ]);
}

async function remove(flags: Flags, name: string | undefined): Promise<void> {
  const { client, agent } = await open(flags, name);
  await client.agents.deleteAgent(agent);
}
