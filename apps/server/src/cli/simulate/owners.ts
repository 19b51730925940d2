import type { KeyHeat } from './heat.ts';

// Whose partitions a key has.

const ofUser = /\{(uid|user_id|conversation_id|eventId|event_id|key)\}/;
const ofTenant = /\{(tenant_key|tenant_id|account_id|userId|sourceId|connectionId)(:\w+)?\}/;

type Key = Pick<KeyHeat, 'key'>;

export const isOfUser = ({ key }: Key): boolean => ofUser.test(key);
export const isShared = (one: Key): boolean => !isOfUser(one) && !ofTenant.test(one.key);

// A list that every server looks at by the second, such as what is due.
export const isPolled = (one: Pick<KeyHeat, 'key' | 'kind'>): boolean => one.kind === 'read' && isShared(one);

// What all share is read by the second, such as due items, however many operations there are. So is what uses a small
// part of a write unit, such as a checkpoint: it does not grow with the load.
const bySecond = 0.25;
export const isOfOperations = (one: KeyHeat): boolean =>
  !isShared(one) || (one.kind === 'write' && one.units >= bySecond);
