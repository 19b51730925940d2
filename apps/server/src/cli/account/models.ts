import { UsageError } from '../../config/errors.ts';
import { connectLate, defineCommand, type FlagsOf, serverOption } from '../action.ts';
import type { ConnectFlags } from '../connection.ts';

const actions = { list, test };

const options = {
  ...serverOption,
  '--json': 'list: print JSON',
} as const;
type Flags = FlagsOf<typeof options>;

export const registerModels = defineCommand('models [action] [name]', {
  title: 'The models that agents can use',
  actions: {
    list: 'List the models, their prices and the default',
    test: 'Ask a model a question and print the answer (default: the default model)',
  },
  options,
  examples: ['stak models', 'stak models test', 'stak models test anthropic/claude-sonnet-4-5'],
  usual: 'list',
  load: async () => ({ actions }),
});

async function list(flags: Flags): Promise<void> {
  const { client, printJson, printTable } = await connectLate(flags);
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
  const { client, withoutCommands } = await connectLate(flags);
  const { data } = await client.agents.testModel({ body });
  const { input_tokens, output_tokens } = data.usage;
  console.log(withoutCommands(data.answer));
  console.error(
    `${data.provider}/${data.model} · ${input_tokens} + ${output_tokens} tokens · $${data.cost_usd} · ${data.duration_ms} ms`,
  );
}
