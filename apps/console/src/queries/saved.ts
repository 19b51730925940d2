import { useLocalStorage } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { offerUndo } from '../components/feedback/undo.tsx';
import { useAction } from './actions.ts';
import { useRows } from './answers.ts';
import { client } from './api.ts';
import { useOrganisation } from './organisation.ts';

export type SavedKind = 'events' | 'sql' | 'messages';
export type SavedText = { name: string; text: string };

// The keys and formats under which earlier consoles kept them in the browser, before there were message templates.
const earlier: Record<SavedKind, { key: string; textOf: (value: unknown) => string }> = {
  events: {
    key: 'event-views',
    textOf: value => new URLSearchParams(value as Record<string, string>).toString(),
  },
  sql: { key: 'queries', textOf: String },
  messages: { key: 'messages', textOf: String },
};

/** The saved items of the organisation, and those that only this browser has. */
export function useSaved(kind: SavedKind) {
  const queries = useQueryClient();
  const queryKey = ['saved', kind];
  const { data, isPending } = useRows(queryKey, () => client.accounts.listSaved({ kind }));
  const shared = data ?? [];
  const [local, setLocal] = useLocal(kind);
  const refresh = () => queries.invalidateQueries({ queryKey });
  const save = useAction(
    ({ name, text }: SavedText) => client.accounts.save({ kind, name, body: { text } }),
    {
      onSettled: refresh,
    },
  );
  const remove = useAction(({ name }: SavedText) => client.accounts.removeSaved({ kind, name }), {
    onSuccess: (_, kept) => offerUndo(`${kept.name} is deleted.`, () => save.mutate(kept)),
    onSettled: refresh,
  });
  const dropLocal = (name: string) => setLocal(before => before.filter(one => one.name !== name));
  const removeLocal = ({ name }: SavedText) => {
    dropLocal(name);
    offerUndo(`${name} is deleted.`, () => setLocal(local));
  };
  // One by one, removing each after it is stored, so that a failure can be retried.
  const share = useAction(
    async () => {
      const taken = new Map(shared.map(one => [one.name, one.text]));
      for (const { name, value } of local) {
        const text = earlier[kind].textOf(value);
        const free = taken.has(name) && taken.get(name) !== text ? freeName(name, taken) : name;
        await client.accounts.save({ kind, name: free, body: { text } });
        taken.set(free, text);
        dropLocal(name);
      }
    },
    { onSettled: refresh },
  );
  return {
    shared,
    isLoading: isPending,
    local: local.map(({ name, value }): SavedText => ({ name, text: earlier[kind].textOf(value) })),
    save: save.mutate,
    remove: remove.mutate,
    removeLocal,
    share: share.mutate,
  };
}

function useLocal(kind: SavedKind) {
  const { data } = useOrganisation();
  return useLocalStorage<{ name: string; value: unknown }[]>({
    key: `stak-${earlier[kind].key}-${data?.accountId ?? ''}`,
    defaultValue: [],
  });
}

function freeName(name: string, taken: ReadonlyMap<string, string>): string {
  for (let count = 2; ; count++) if (!taken.has(`${name} ${count}`)) return `${name} ${count}`;
}
