import type { Input } from './faults.ts';
import type { Sabotage } from './fixture.ts';

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

const isStats = (write: Write, partition: string): boolean => {
  const { pk, sk } = keyOf(write);
  return String(pk).includes(partition) && String(sk).startsWith('c#') && sk !== 'c#*';
};

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
    const { pk, sk } = keyOf(write);
    const isOwn = String(pk).includes('U#') && /^[mx]#/.test(String(sk));
    return write.Update && isOwn ? { Update: untouched(write.Update) } : write;
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
  'does not say that a category is being deleted': onWrites(write => {
    const item = write.Put?.Item as Item | undefined;
    const isHead = item?.deleting && item.sk === 'c#*';
    return isHead ? { Put: { ...write.Put, Item: { ...item, deleting: [] } } } : write;
  }),
  'lists no redaction of a message to everyone': onWrites(write => {
    const item = write.Put?.Item as Item | undefined;
    return item?.redacts === undefined ? write : undefined;
  }),
  'takes no claim on host ids': drop('h#'),
  'stores no numbers of categories for users': onWrites(write => (isStats(write, 'U#') ? undefined : write)),
  'stores no numbers of categories for everyone': onWrites(write =>
    isStats(write, 'G#') ? undefined : write,
  ),
  'counts one more for everyone than there are': onWrites(write => {
    const item = write.Put?.Item as Item | undefined;
    if (item?.sk !== 'c#*' || !String(item.pk).includes('G#')) return write;
    return { Put: { ...write.Put, Item: { ...item, published: (item.published as number) + 1 } } };
  }),
};

// The update, as if the message had been marked before everything else.
function untouched(update: Input): Input {
  const names = update.ExpressionAttributeNames as Record<string, string>;
  const name = Object.keys(names).find(one => names[one] === 'touched');
  const set = new RegExp(`${name} = (:\\w+)`).exec(String(update.UpdateExpression));
  if (!set) return update;
  const values = update.ExpressionAttributeValues as Item;
  return { ...update, ExpressionAttributeValues: { ...values, [set[1]!]: 0 } };
}
