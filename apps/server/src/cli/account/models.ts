import type { CAC } from 'cac';
import { UsageError } from '../../config/errors.ts';
import { declareActions, loadConnection, runAction } from '../action.ts';
import type { ConnectFlags } from '../connection.ts';

type Flags = ConnectFlags & { json?: unknown };

const actions = { list, test };

export function registerModels(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'models [action] [name]', 'The models that agents can use', {
    list: 'List the models, their prices and the default',
    test: 'Ask a model a question and print the answer (default: the default model)',
  })
    .option('--url <url>', 'The server (default: that of this folder, or the last one signed in to)')
    .option('--json', 'list: print JSON')
    .example('stak models')
    .example('stak models test')
    .example('stak models test anthropic/claude-sonnet-4-5')
    .action((action: string | undefined, name: string | undefined, flags: Flags) =>
      runAction('models', actions, action ?? 'list', flags, name),
    );
}

async function list(flags: Flags): Promise<void> {
  const { connect, printJson, printTable } = await loadConnection();
  const { client } = await connect(flags);
  const { data } = await client.agents.listModels();
  if (flags.json) return printJson(data.data);
  const rows = data.data.map(({ provider, model, is_default, price }) => [
    `${provider}/${model}`,
    price ? `$${price.input} in, $${price.output} out` : 'no price',
    is_default ? 'default' : '',
  ]);
  printTable([['model', 'a million tokens', ''], ...rows], 'There are no models.');
  if (data.missing !== null) console.error(data.missing);
}

async function test(flags: ConnectFlags, name: string | undefined): Promise<void> {
  const slash = name?.indexOf('/') ?? -1;
  if (name !== undefined && slash < 1)
    throw new UsageError(`${JSON.stringify(name)} is not a provider/model; see stak models`);
  const body = name === undefined ? {} : { provider: name.slice(0, slash), model: name.slice(slash + 1) };
  const { connect } = await loadConnection();
  const { client } = await connect(flags);
  const { data } = await client.agents.testModel({ body });
  const { input_tokens, output_tokens } = data.usage;
  console.log(data.answer);
  console.error(
    `${data.provider}/${data.model} · ${input_tokens} + ${output_tokens} tokens · $${data.cost_usd} · ${data.duration_ms} ms`,
  );
}
