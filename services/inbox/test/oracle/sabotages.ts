import type { Input } from './faults.ts';
import type { Sabotage } from './world.ts';

// Ways in which the inbox might be wrong, made in the client below it: each leaves out or changes a part of what is
// written. The oracle has to find every one of them.

type Item = Record<string, unknown>;
type Write = Partial<Record<'Put' | 'Update' | 'Delete' | 'ConditionCheck', Input>>;

const isState = (item: Item): boolean => item.sk === 'c#*' && String(item.pk).includes('U#');
const keyOf = (write: Write): Item =>
  ((write.Put?.Item ?? write.Update?.Key ?? write.Delete?.Key ?? write.ConditionCheck?.Key) as Item) ?? {};

const onWrites =
  (change: (write: Write) => Write | undefined): Sabotage =>
  input => {
    if (!('TransactItems' in input)) return input;
    const changed = (input.TransactItems as Write[]).map(change).filter(one => one !== undefined);
    return { ...input, TransactItems: changed };
  };

const onState = (change: (state: Item, put: Input) => Input): Sabotage =>
  onWrites(write => {
    const item = write.Put?.Item as Item | undefined;
    return item && isState(item) ? { Put: change(item, write.Put!) } : write;
  });

const setState = (change: (state: Item) => Item): Sabotage =>
  onState((state, put) => ({ ...put, Item: { ...state, ...change(state) } }));

const drop = (prefix: string): Sabotage =>
  onWrites(write => (String(keyOf(write).sk).startsWith(prefix) ? undefined : write));

type Numbers = { to: number; also: number[] };

export const sabotages: Record<string, Sabotage> = {
  'writes over what somebody else has written meanwhile': onState((state, put) => {
    const {
      ConditionExpression: _,
      ExpressionAttributeNames: __,
      ExpressionAttributeValues: ___,
      ...bare
    } = put;
    return { ...bare, Item: state };
  }),
  'keeps no expiries': drop('x#'),
  'forgets when the next message expires': setState(() => ({ next_expiry: undefined })),
  'forgets what was marked as a whole': setState(() => ({ ranges: [] })),
  'lets ranges go over what was marked after them': onWrites(write => {
    const update = write.Update;
    const key = keyOf(write);
    if (!update || !/^[mx]#/.test(String(key.sk)) || !String(key.pk).includes('U#')) return write;
    const values = update.ExpressionAttributeValues as Item;
    const numbers = Object.entries(values).map(([name, value]) => [
      name,
      value === undefined ? value : value,
    ]);
    return {
      Update: { ...update, ExpressionAttributeValues: lowerTouched(update, Object.fromEntries(numbers)) },
    };
  }),
  'forgets who is snoozed': setState(() => ({ snoozed: [] })),
  'shows everyone the whole past': setState(() => ({ joined: 0 })),
  'takes one message too many as read': setState(state => {
    const { to, also } = state.read_numbers as Numbers;
    return { read_numbers: { to: to + 1, also } };
  }),
  'forgets which messages to everyone were read out of order': setState(state => ({
    read_numbers: { to: (state.read_numbers as Numbers).to, also: [] },
  })),
  'forgets the archive of messages to everyone': setState(() => ({ archived_numbers: [] })),
  'does not announce redactions': onWrites(write => {
    const item = write.Put?.Item as Item | undefined;
    return item?.redacting ? { Put: { ...write.Put, Item: { ...item, redacting: [] } } } : write;
  }),
  'lists no redaction of a message to everyone': onWrites(write => {
    const item = write.Put?.Item as Item | undefined;
    return item?.redacts === undefined ? write : undefined;
  }),
  'takes no claim on host ids': drop('h#'),
};

// `touched` is the first thing such an update sets.
function lowerTouched(update: Input, values: Item): Item {
  const names = update.ExpressionAttributeNames as Record<string, string>;
  const name = Object.entries(names).find(([, attribute]) => attribute === 'touched')?.[0];
  const match =
    name === undefined ? null : new RegExp(`${name} = (:\\w+)`).exec(String(update.UpdateExpression));
  return match ? { ...values, [match[1]!]: 0 } : values;
}
