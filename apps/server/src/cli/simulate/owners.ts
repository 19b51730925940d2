import type { KeyHeat } from './heat.ts';

// Tells by its attributes whether a key belongs to a user, a tenant or an account.

const ofUser = /\{(uid|user_id|conversation_id|eventId|event_id|key)\}/;
const ofTenant = /\{(tenant_key|tenant_id|account_id|userId|sourceId|connectionId)(:\w+)?\}/;

type Key = Pick<KeyHeat, 'key'>;

export const isOfUser = ({ key }: Key): boolean => ofUser.test(key);
export const isShared = (one: Key): boolean => !isOfUser(one) && !ofTenant.test(one.key);

// A list that every server looks at by the second, such as what is due.
export const isPolled = (key: Pick<KeyHeat, 'key' | 'kind'>): boolean => key.kind === 'read' && isShared(key);

// Shared reads, such as those of due items, happen by the second, however many operations there are. A write of a small
// part of a unit, such as a checkpoint, does not grow with the load either.
const bySecond = 0.25;
export const isOfOperations = (key: KeyHeat): boolean =>
  !isShared(key) || (key.kind === 'write' && key.units >= bySecond);
