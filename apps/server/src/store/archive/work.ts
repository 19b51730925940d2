import type { AnyEntity, Attributes } from '@stak/table';
import { erasure } from '@stak/tenants/tables';
import { z } from 'zod';

/** Whether workers find its items without knowing their owner: in a partition that does not follow from the item's own key. */
export const isWork = ({ key, indexes }: AnyEntity): boolean =>
  key.templates.partition.params.length === 0 ||
  indexes.some(index => index.templates.partition.params.every(name => !key.params.includes(name)));

const mostNumber = 2 ** 52; // workers count on from it

/**
 * Says why workers could not handle an item; undefined if they can. They share their queues between accounts, so what
 * they cannot handle must not be in one. Only Stak writes these items, and writes them whole.
 */
export function unworkable(entity: AnyEntity, values: Attributes): string | undefined {
  if (!isWork(entity) && entity !== erasure) return undefined; // a pointer leads to the erasure
  for (const [name, type] of Object.entries(entity.schema.shape)) {
    const value = values[name];
    if (value === undefined && !z.safeParse(type, undefined).success) return `has no ${name}`;
    if (typeof value === 'number' && Math.abs(value) > mostNumber) return `has ${name} out of range`;
  }
  return undefined;
}
