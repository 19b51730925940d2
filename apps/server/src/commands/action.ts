import { UsageError } from '../errors.ts';

type Action<Flags> = (flags: Flags, id: string | undefined) => Promise<void>;

// The second word of a command: `list` in `stak keys list`.
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
      `stak ${command} knows ${Object.keys(actions).join(', ')}, not ${JSON.stringify(name)}`,
    );
  await action(flags, id);
}
