import type { Attributes, DynamoClient } from '@stak/table';
import { withText } from '../copies.ts';

// The engine calls of a turn, recorded once and replayed without the service: the same calls in the same order, with
// the same conditions and new names.

export type EngineCall = { method: keyof DynamoClient; input: Attributes };

export type Recorder = {
  watch(client: DynamoClient): DynamoClient;
  // The calls that were made during the work.
  record(work: () => Promise<unknown>): Promise<EngineCall[]>;
};

export function createRecorder(): Recorder {
  let calls: EngineCall[] | undefined;
  return {
    watch(client) {
      const watched = Object.entries(client).map(([method, call]) => [
        method,
        (input: Attributes) => {
          calls?.push({ method: method as keyof DynamoClient, input: structuredClone(input) });
          return (call as (input: Attributes) => unknown)(input);
        },
      ]);
      return Object.fromEntries(watched) as DynamoClient;
    },
    async record(work) {
      const recorded: EngineCall[] = [];
      calls = recorded;
      await work();
      calls = undefined;
      return recorded;
    },
  };
}

export async function send(client: DynamoClient, { method, input }: EngineCall): Promise<void> {
  await (client[method] as (input: Attributes) => Promise<unknown>)(input);
}

// The turns after the recorded one, by number from 1. They differ in the message, the number of the turn, and the
// version and time of the documented item, which their conditions check.
export function repeatTurn(calls: readonly EngineCall[]): (n: number) => EngineCall[] {
  const { messageId, seq, head, version, readAt, writtenAt } = readTurn(calls);
  const timeOf = (n: number) => new Date(Date.parse(writtenAt) + n).toISOString();
  return n => {
    const texts: [from: string, to: string][] = [
      [messageId, `${messageId}_${n}`],
      [turnKey(seq), turnKey(seq + n)],
      [turnKey(seq - 1), turnKey(seq - 1 + n)],
      [writtenAt, timeOf(n)],
      [readAt, timeOf(n - 1)],
    ];
    return calls.map(({ method, input }, i) => {
      const renamed = withNumbers(
        texts.reduce((text, [from, to]) => withText(text, from, to), input),
        seq,
        n,
      );
      return { method, input: i === head.call ? withVersion(renamed, head.step, version + n) : renamed };
    });
  };
}

const turnKey = (seq: number): string => `#${String(seq).padStart(10, '0')}`;

function readTurn(calls: readonly EngineCall[]) {
  const call = calls.findIndex(({ input }) => stepsOf(input).some(isHead));
  const steps = stepsOf(calls[call]!.input);
  const step = steps.findIndex(isHead);
  const { Item, ExpressionAttributeValues } = steps[step]!.Put;
  const [version, readAt] = Object.values(ExpressionAttributeValues) as [number, string];
  const { seq, message_ids } = steps.find(({ Put }) => Put?.Item.seq !== undefined)!.Put.Item;
  return {
    head: { call, step },
    messageId: message_ids[0] as string,
    seq: seq as number,
    version,
    readAt,
    writtenAt: Item.updated_at as string,
  };
}

// The state counts turns. The days also count messages of other conversations, so any number will do there.
function withNumbers(input: Attributes, seq: number, n: number): Attributes {
  const isDay = String(input.Key?.pk).startsWith('USAGE#') && input.ConditionExpression !== undefined;
  if (isDay) return { ...input, ConditionExpression: `${input.ConditionExpression} OR attribute_exists(pk)` };
  if (!input.TransactItems) return input;
  const count = (value: unknown) => (value === seq || value === seq - 1 ? value + n : value);
  const steps = stepsOf(input).map(({ Update, ...rest }) => {
    if (Update?.Key.sk !== 'STATE') return Update ? { ...rest, Update } : rest;
    const values = Object.entries(Update.ExpressionAttributeValues as Attributes);
    const counted = Object.fromEntries(values.map(([name, value]) => [name, count(value)]));
    return { ...rest, Update: { ...Update, ExpressionAttributeValues: counted } };
  });
  return { ...input, TransactItems: steps };
}

const stepsOf = ({ TransactItems = [] }: Attributes): Attributes[] => TransactItems;
const isHead = ({ Put }: Attributes): boolean => Put?.Item.version !== undefined;

function withVersion(input: Attributes, step: number, version: number): Attributes {
  const { Put } = stepsOf(input)[step]!;
  const [name] = Object.keys(Put.ExpressionAttributeValues) as [string];
  const head = {
    ...Put,
    Item: { ...Put.Item, version: version + 1 },
    ExpressionAttributeValues: { ...Put.ExpressionAttributeValues, [name]: version },
  };
  return { ...input, TransactItems: stepsOf(input).with(step, { Put: head }) };
}
