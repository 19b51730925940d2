import type { CAC, Command } from 'cac';
import { UsageError } from '../config/errors.ts';

// Commands are data: their help, completion and the types of their flags are derived from it.

type Options = Readonly<Record<`--${string}`, string>>;
type Camel<Text extends string> = Text extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Text;
type FlagOf<Option> = Option extends `--${infer Name} ${string}`
  ? Camel<Name>
  : Option extends `--${infer Name}`
    ? Camel<Name>
    : never;

/** The flags that a command with these options gives to its actions. */
export type FlagsOf<Declared> = { [Option in keyof Declared as FlagOf<Option>]?: unknown };

type Action<Flags> = (flags: Flags, id: string | undefined) => Promise<void>;
type Actions<Name extends string, Flags> = Readonly<Record<Name, Action<Flags>>>;

type Definition<Name extends string, Declared extends Options> = {
  title: string;
  actions: Readonly<Record<Name, string>>; // a line of help for each
  options: Declared;
  examples: readonly string[];
  // A monitor learns from these what is wrong. 1 is an error of any command.
  exitCodes?: Readonly<Record<number, string>>;
  usual?: NoInfer<Name>; // the action where none is given
  // Loaded late, so that help and errors appear at once.
  load(): Promise<{ actions: Actions<NoInfer<Name>, FlagsOf<NoInfer<Declared>>> }>;
};

type Texts = { actions: Readonly<Record<string, string>>; exitCodes?: Readonly<Record<number, string>> };
const texts = new WeakMap<Command, Texts>();
export const actionsOf = (command: Command): Texts['actions'] | undefined => texts.get(command)?.actions;
export const exitCodesOf = (command: Command): Texts['exitCodes'] => texts.get(command)?.exitCodes;

/** A command whose second word is the action, like `list` in `stak keys list`. */
export const defineCommand =
  <Name extends string, Declared extends Options>(
    usage: string,
    { title, actions, options, examples, exitCodes, usual, load }: Definition<Name, Declared>,
  ) =>
  (cli: CAC): void => {
    const names = Object.keys(actions);
    const command = cli.command(usage, `${title}: ${names.join(', ')}`);
    for (const [option, text] of Object.entries(options)) command.option(option, text);
    for (const example of examples) command.example(example);
    texts.set(command, { actions, ...(exitCodes && { exitCodes }) });
    command.action(async (name: string = usual ?? '', ...rest: unknown[]) => {
      if (!Object.hasOwn(actions, name))
        throw new UsageError(
          `stak ${command.name} knows ${names.join(', ')}, not ${JSON.stringify(name)}; see stak ${command.name} --help`,
        );
      const flags = rest.pop() as FlagsOf<Declared>;
      await (await load()).actions[name as Name](flags, rest[0] as string | undefined);
    });
  };

export const serverOption = {
  '--url <url>': 'The server (default: that of this folder, or the last one signed in to)',
} as const;

export const storeOptions = {
  '--path <folder>': 'The folder of the embedded engine (default: ./data)',
  '--endpoint <url>': 'A DynamoDB endpoint to use instead of a folder',
  '--region <region>': 'The AWS region to use instead of a folder',
  '--prefix <text>': 'The prefix of table names (default: STAK_TABLE_PREFIX)',
} as const;

// Connects to a server. The modules are loaded late, so that help and errors appear at once.
export const connectLate = async (flags: { url?: unknown }) => ({
  ...(await import('@stak/client')),
  ...(await import('./print.ts')),
  ...(await (await import('./connection.ts')).connect(flags)),
});
