import type { CAC, Command } from 'cac';
import { UsageError } from '../config/errors.ts';

type Action<Flags> = (flags: Flags, id: string | undefined) => Promise<void>;

const described = new WeakMap<Command, Readonly<Record<string, string>>>();

// A command whose second word is the action, like `list` in `stak keys list`, with a line of help for each.
export function declareActions<Name extends string>(
  cli: CAC,
  usage: string,
  what: string,
  actions: Readonly<Record<Name, string>>,
): Command {
  const command = cli.command(usage, `${what}: ${Object.keys(actions).join(', ')}`);
  described.set(command, actions);
  return command;
}

export const actionsOf = (command: Command): Readonly<Record<string, string>> | undefined =>
  described.get(command);

const exitCodes = new WeakMap<Command, Readonly<Record<number, string>>>();

// The exit codes of a command by which a monitor learns what is wrong, shown in its help. 1 is an error of any command.
export function declareExitCodes(command: Command, codes: Readonly<Record<number, string>>): Command {
  exitCodes.set(command, codes);
  return command;
}

export const exitCodesOf = (command: Command): Readonly<Record<number, string>> | undefined =>
  exitCodes.get(command);

export async function runAction<Flags>(
  command: string,
  actions: Readonly<Record<string, Action<Flags>>>,
  name: string,
  flags: Flags,
  id?: string,
): Promise<void> {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action)
    throw new UsageError(
      `stak ${command} knows ${Object.keys(actions).join(', ')}, not ${JSON.stringify(name)}; see stak ${command} --help`,
    );
  await action(flags, id);
}

// What a command needs to call a server. Loaded late, so that help and errors appear at once.
export const loadConnection = async () => ({
  ...(await import('./connection.ts')),
  ...(await import('./print.ts')),
});
