import type { Client } from '@stak/client';
import { useQuery } from '@tanstack/react-query';
import { useAnswer } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { paced } from '../../queries/pace.ts';

// The state of the page is in its URL, so that a partition can be shared as a link.
export type TableSearch = {
  tab?: string;
  index?: string;
  partition?: string;
  sort?: string;
  order?: 'desc';
  entity?: string;
};

const texts = ['tab', 'index', 'partition', 'sort', 'entity'] as const;

export function readTableSearch(search: Record<string, unknown>): TableSearch {
  const known = texts.flatMap(name => (typeof search[name] === 'string' ? [[name, search[name]]] : []));
  return { ...Object.fromEntries(known), ...(search.order === 'desc' && { order: 'desc' }) };
}

type DataOf<Call extends (...args: never[]) => Promise<{ data: unknown }>> = Awaited<
  ReturnType<Call>
>['data'];
export type TableDetails = DataOf<Client['tables']['get']>;
export type Item = DataOf<Client['tables']['items']>['data'][number];
export type Key = Item['keys'][number];
export type Attribute = Item['attributes'][number];
export type Change = {
  kind: 'insert' | 'modify' | 'remove' | 'expire';
  at: string;
  item: Item;
  before: Attribute[] | null;
  changed: string[];
};

const readTables = async () => (await client.tables.list()).data;

// Only operators may see tables and what the server does.
export function useIsOperator(): boolean {
  const { data } = useQuery({
    queryKey: ['is-operator'],
    queryFn: async () => (await client.system.status()).data.operator !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data === true;
}

const live = { refetchInterval: paced(5_000) };

export const useTables = () => useQuery({ queryKey: ['tables'], queryFn: readTables, ...live });

export const useTable = (table: string) =>
  useAnswer(['table', table], () => client.tables.get({ table }), live);

// The key that a list is sorted by: the table's, or that of the index it was read from.
export const keyOf = (item: Item, role: Key['role'], index: string | undefined): Key | undefined =>
  item.keys.find(key => key.role === role && key.index === (index ?? null));
