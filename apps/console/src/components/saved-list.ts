import { useLocalStorage } from '@mantine/hooks';
import { useOrganisation } from '../queries/organisation.ts';

type Saved<Value> = { name: string; value: Value };

const savedMost = 50; // more than anybody looks through

/** Named things that somebody keeps in this browser, for the organisation that they work in. */
export function useSavedList<Value>(kind: string) {
  const { data } = useOrganisation();
  const [all, setAll] = useLocalStorage<Saved<Value>[]>({
    key: `stak-${kind}-${data?.accountId ?? ''}`,
    defaultValue: [],
  });
  return {
    all,
    add: (name: string, value: Value) =>
      setAll(before => [{ name, value }, ...before.filter(one => one.name !== name)].slice(0, savedMost)),
    remove: (name: string) => setAll(before => before.filter(one => one.name !== name)),
  };
}
