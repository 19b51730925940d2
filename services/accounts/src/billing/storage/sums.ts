import type { AnyEntity, AnyTable, Attributes, FindOwner, Owner } from '@stak/table';
import type { Payers } from './owners.ts';

// `written` has what is kept no longer, too.
export type Sum = { bytes: number; items: number; written: number };
export type AccountSum = Sum & { accountId: string; service: string };

// The total of all accounts, stored like an account's.
export const everyone = '*';

export type Summing<Kind extends string> = {
  table: AnyTable;
  findOwner: FindOwner<Kind>;
  serviceOf(entity: AnyEntity): string;
  payers: Payers<Kind>;
};

// An item that counts towards an owner.
export type OwnedBytes<Kind extends string> = { owner: Owner<Kind>; service: string; bytes: number };

export function ownedItem<Kind extends string>(
  { table, findOwner, serviceOf }: Summing<Kind>,
  keys: Attributes,
  bytes: number,
  image: () => Attributes | undefined,
): OwnedBytes<Kind> | undefined {
  const owner = bytes === 0 ? undefined : findOwner(table, keys, image);
  return owner && { owner: owner.owner, service: serviceOf(owner.entity), bytes };
}

// Sums by owner first and then by account: a page has few owners, and looking up an account may take a read.
export function createSums<Kind extends string>(payers: Payers<Kind>) {
  const byOwner = new Map<string, { owner: Owner<Kind>; service: string } & Sum>();
  return {
    add(owned: OwnedBytes<Kind> | undefined, sign: 1 | -1 = 1, written = 0): void {
      if (!owned) return;
      const { owner, service, bytes } = owned;
      const name = `${service} ${owner.kind} ${owner.id}`;
      const sum = byOwner.get(name) ?? { owner, service, bytes: 0, items: 0, written: 0 };
      sum.bytes += sign * bytes;
      sum.items += sign;
      sum.written += written;
      byOwner.set(name, sum);
    },
    async byAccount(): Promise<AccountSum[]> {
      const sums = new Map<string, AccountSum>();
      const addTo = (accountId: string, added: { service: string } & Sum) => {
        const { service } = added;
        const sum = sums.get(`${service} ${accountId}`) ?? {
          accountId,
          service,
          bytes: 0,
          items: 0,
          written: 0,
        };
        sum.bytes += added.bytes;
        sum.items += added.items;
        sum.written += added.written;
        sums.set(`${service} ${accountId}`, sum);
      };
      for (const sum of byOwner.values()) {
        if (isNothing(sum)) continue;
        const accountId = await payers.accountOf(sum.owner);
        if (accountId === undefined) continue;
        addTo(accountId, sum);
        addTo(everyone, sum);
      }
      return [...sums.values()].filter(sum => !isNothing(sum));
    },
  };
}

const isNothing = ({ bytes, items, written }: Sum): boolean => bytes === 0 && items === 0 && written === 0;
