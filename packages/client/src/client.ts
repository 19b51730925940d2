import { callOperation } from './call.ts';
import { createConnection } from './connection.ts';
import type { CallOptions, ClientOf, Operations, StreamOptions } from './operation.ts';
import type { ClientSettings } from './settings.ts';
import { subscribe } from './subscription.ts';

type Args = Readonly<Record<string, unknown>>;
type Group = Record<string, (args?: Args, options?: CallOptions & StreamOptions) => unknown>;

/** Creates a client for any table of operations, with the types that were generated for it. */
export function createClientFor<Types>(operations: Operations, settings: ClientSettings): ClientOf<Types> {
  const connection = createConnection(settings);
  const groups: Record<string, Group> = {};
  for (const [id, operation] of Object.entries(operations)) {
    const dot = id.indexOf('.');
    const name = id.slice(0, dot);
    groups[name] ??= {};
    const run = operation.isStream ? subscribe : callOperation;
    groups[name][id.slice(dot + 1)] = (args = {}, options = {}) => run(connection, operation, args, options);
  }
  return groups as ClientOf<Types>;
}
