import { execFileSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sizes, template, templateText } from '../../aws/template.ts';
import { readServerConfig, readStoreConfig, serverVariables } from '../../config/config.ts';
import { UsageError } from '../../config/errors.ts';
import { readOptionalList, readText } from '../../config/flags.ts';
import { designs } from '../../store/designs.ts';
import type { FlagsOf } from '../action.ts';
import type { options } from './aws.ts';

type Flags = FlagsOf<typeof options>;

export const actions = { template: printTemplate, handlers: writeHandlers };

// Variables that the template sets.
const ownVariables = new Set([
  'STAK_AWS_REGION',
  'STAK_DRAIN_SECONDS',
  'STAK_ENV',
  'STAK_HOST',
  'STAK_LAKE',
  'STAK_LAMBDA_CONSUMERS',
  'STAK_PORT',
  'STAK_PUBLIC_URL',
  'STAK_SECRET_KEYS',
  'STAK_STORE',
  'STAK_TABLE_PREFIX',
  'STAK_TRUSTED_PROXY_HOPS',
]);

async function printTemplate(flags: Flags): Promise<void> {
  const { prefix = '' } = readStoreConfig({ region: 'any', prefix: flags.prefix });
  const size = readChoice('--size', flags.size ?? 'medium', Object.keys(sizes) as (keyof typeof sizes)[]);
  const streams = readChoice('--streams', flags.streams ?? 'servers', ['servers', 'lambda']);
  const variables = Object.fromEntries(readPairs(flags.env));
  const secrets = readOptionalList('--secret', flags.secret) ?? [];
  for (const name of [...Object.keys(variables), ...secrets]) checkName(name);
  const twice = secrets.find(name => name in variables);
  if (twice !== undefined) throw new UsageError(`${twice} is a variable or a secret, not both`);
  // An invalid value is reported here, not by a server that does not start.
  readServerConfig({}, variables);
  console.log(templateText(template({ designs, prefix, variables, secrets, size, streams })));
}

// The code of the Lambda functions, to be zipped and uploaded.
async function writeHandlers(flags: Flags): Promise<void> {
  const folder = resolve(readText('--to', flags.to ?? 'handlers'));
  if (existsSync(folder)) throw new UsageError(`${folder} exists already: choose another folder with --to`);
  if (existsSync(built)) cpSync(built, folder, { recursive: true });
  else execFileSync(process.execPath, [builders.find(existsSync)!, folder], { stdio: 'inherit' });
  console.log(folder);
}

// Beside the bundled command in the package; in a checkout they are built on demand.
const built = fileURLToPath(new URL('./handlers', import.meta.url));
const builders = ['../../../build-handlers.mjs', '../build-handlers.mjs'].map(path =>
  fileURLToPath(new URL(path, import.meta.url)),
);

function readChoice<const Choice extends string>(
  flag: string,
  given: unknown,
  choices: readonly Choice[],
): Choice {
  const chosen = choices.find(choice => choice === readText(flag, given));
  if (chosen !== undefined) return chosen;
  throw new UsageError(`${flag} is one of ${choices.join(', ')}, not ${JSON.stringify(given)}`);
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
