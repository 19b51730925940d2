import { sizes, template, templateText } from '../cloudformation/template.ts';
import { readServerConfig, readStoreConfig, serverVariables } from '../config.ts';
import { designs } from '../designs.ts';
import { UsageError } from '../errors.ts';
import { readOptional, readOptionalList } from './flags.ts';

export type Flags = { prefix?: unknown; env?: unknown; secret?: unknown; size?: unknown };

export const actions = { template: printTemplate };

// What the template says itself.
const ownVariables = new Set([
  'STAK_AWS_REGION',
  'STAK_DRAIN_SECONDS',
  'STAK_ENV',
  'STAK_HOST',
  'STAK_LAKE',
  'STAK_PORT',
  'STAK_PUBLIC_URL',
  'STAK_SECRET_KEYS',
  'STAK_STORE',
  'STAK_TABLE_PREFIX',
  'STAK_TRUSTED_PROXY_HOPS',
]);

async function printTemplate(flags: Flags): Promise<void> {
  const { prefix = '' } = readStoreConfig({ region: 'any', prefix: flags.prefix });
  const size = readSize(flags.size);
  const variables = Object.fromEntries(readPairs(flags.env));
  const secrets = readOptionalList('--secret', flags.secret) ?? [];
  for (const name of [...Object.keys(variables), ...secrets]) checkName(name);
  const twice = secrets.find(name => name in variables);
  if (twice !== undefined) throw new UsageError(`${twice} is a variable or a secret, not both`);
  // A mistake in a value is found here rather than by a server that does not start.
  readServerConfig({}, variables);
  console.log(templateText(template({ designs, prefix, variables, secrets, size })));
}

function readSize(given: unknown): keyof typeof sizes {
  const size = readOptional('--size', given) ?? 'medium';
  if (Object.hasOwn(sizes, size)) return size as keyof typeof sizes;
  throw new UsageError(`--size is one of ${Object.keys(sizes).join(', ')}, not ${JSON.stringify(size)}`);
}

function readPairs(given: unknown): [name: string, value: string][] {
  if (given === undefined) return [];
  return [given].flat().map(text => {
    const [, name, value] = /^([^=]+)=(.+)$/s.exec(String(text)) ?? [];
    if (name === undefined || value === undefined)
      throw new UsageError(`--env needs NAME=value, not ${JSON.stringify(text)}`);
    return [name, value];
  });
}

function checkName(name: string): void {
  if (ownVariables.has(name)) throw new UsageError(`the template sets ${name} itself`);
  if (!Object.hasOwn(serverVariables, name))
    throw new UsageError(`stak start does not read ${JSON.stringify(name)}: see .env.example`);
}
