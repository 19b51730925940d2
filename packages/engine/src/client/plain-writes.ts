import type { Context } from '../context.ts';
import { DynamoError } from '../errors.ts';
import type { UpdateNode } from '../expressions/ast.ts';
import { parseUpdate } from '../expressions/update-parser.ts';
import type { Change } from '../prepared/change.ts';
import type { Test } from '../prepared/condition.ts';
import { type Layout, layoutOf } from '../prepared/layout.ts';
import type { Prepared } from '../prepared/prepared.ts';
import { copyPlain, isBytes, unsupported } from '../prepared/values.ts';
import { attempt, checkIndexKeys, type PreparedWrite } from '../prepared/write.ts';
import type { Operation } from '../validation/operations.ts';
import type { NativeItem } from '../values/marshal.ts';

// The usual writes of a client, as prepared operations: puts, and updates that set, add or remove whole attributes, alone
// or in a transaction. They cost half of what the wire model costs. A request with any other parameter, value or
// expression, or that might be refused as invalid, is left to the wire operation, which knows every message.

type Fields = Readonly<Record<string, unknown>>;

const putFields = new Set(['TableName', 'Item', 'ConditionExpression']);
const updateFields = new Set([
  'TableName',
  'Key',
  'UpdateExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
]);
const expressionChars = 1000; // far below the limit of an expression
const onlyIfNew = /^attribute_not_exists\((\w+)\)$/;

type Execute = (operation: Operation, input: unknown) => Promise<object>;

// `request` has what the caller passed, although the caller may change its own while the write waits for its commit.
type Planned = { request: Fields; write: PreparedWrite };
type Writing = { request: Fields; result: Promise<object | undefined> | undefined };

export function createPlainWrites(
  { catalog }: Context,
  prepared: Prepared,
  executeWire: Execute,
  closed: AbortSignal,
): Execute {
  const unbilled = { bills: false };

  function layoutIn({ TableName }: Fields): Layout {
    const table = typeof TableName === 'string' ? catalog.find(TableName) : undefined;
    const layout = table && layoutOf(table);
    if (!layout?.canWrite) throw unsupported;
    return layout;
  }

  function planPut(input: Fields): Planned {
    checkFields(input, putFields);
    const layout = layoutIn(input);
    const item = copyItem(input.Item);
    checkIndexKeys(layout, item); // an invalid one is refused before the condition is evaluated
    const { ConditionExpression: expression } = input;
    const condition = expression === undefined ? undefined : conditionOf(expression, layout);
    const { name: table } = layout.table;
    return { request: { ...input, Item: item }, write: { kind: 'put', table, item, condition } };
  }

  function planUpdate(input: Fields): Planned {
    checkFields(input, updateFields);
    const key = copyItem(input.Key);
    const names = copyItem(input.ExpressionAttributeNames ?? {});
    const values = copyItem(input.ExpressionAttributeValues ?? {});
    const changes = changesOf(input.UpdateExpression, names, values);
    return {
      request: {
        ...input,
        Key: key,
        ...(input.ExpressionAttributeNames !== undefined && { ExpressionAttributeNames: names }),
        ...(input.ExpressionAttributeValues !== undefined && { ExpressionAttributeValues: values }),
      },
      write: { kind: 'update', table: layoutIn(input).table.name, key, changes },
    };
  }

  function planAction(action: unknown): { action: Fields; write: PreparedWrite } {
    if (!isObject(action)) throw unsupported;
    const [name, ...more] = Object.keys(action);
    if (more.length > 0 || (name !== 'Put' && name !== 'Update')) throw unsupported;
    const request = action[name];
    if (!isObject(request)) throw unsupported;
    const { request: own, write } = name === 'Put' ? planPut(request) : planUpdate(request);
    return { action: { [name]: own }, write };
  }

  function begin(operation: Operation, input: Fields): Writing | undefined {
    if (operation === 'TransactWriteItems') {
      const { TransactItems: actions, ...more } = input;
      if (!Array.isArray(actions) || Object.keys(more).length > 0) return undefined;
      const planned = actions.map(planAction);
      const result = prepared.writeTogether(
        planned.map(({ write }) => write),
        unbilled,
      );
      return { request: { TransactItems: planned.map(({ action }) => action) }, result };
    }
    if (operation !== 'PutItem' && operation !== 'UpdateItem') return undefined;
    const { request, write } = operation === 'PutItem' ? planPut(input) : planUpdate(input);
    return { request, result: prepared.writeOne(write, unbilled) };
  }

  return async (operation, input) => {
    const writing = isObject(input) && !closed.aborted ? attempt(() => begin(operation, input)) : undefined;
    if (!writing?.result) return executeWire(operation, input);
    // Undefined if what is stored is not supported: then nothing was written.
    return (await answerOf(writing.result)) ?? executeWire(operation, writing.request);
  };
}

// Answers as the wire operation does, with nothing that was not asked for, also in an error.
async function answerOf(result: Promise<object | undefined>): Promise<object | undefined> {
  try {
    return (await result) && {};
  } catch (error) {
    if (error instanceof DynamoError) withoutItems(error);
    throw error;
  }
}

function withoutItems(error: DynamoError & { current?: unknown }): void {
  delete error.current;
  for (const reason of (error.CancellationReasons ?? []) as { current?: unknown }[]) delete reason.current;
}

// The usual condition of a put: on its partition key, whose name is not reserved.
function conditionOf(expression: unknown, { hash }: Layout): Test {
  const name = typeof expression === 'string' ? onlyIfNew.exec(expression)?.[1] : undefined;
  if (name === undefined || name !== hash) throw unsupported;
  parse(`REMOVE ${name}`);
  return { op: 'attribute_not_exists', path: name };
}

function changesOf(expression: unknown, names: NativeItem, values: NativeItem): Change[] {
  if (typeof expression !== 'string' || expression.length > expressionChars) throw unsupported;
  const { actions, ...used } = parse(expression);
  // Every name and value has to be used, and none may be missing.
  if (!hasSame(used.names, names) || !hasSame(used.values, values)) throw unsupported;
  return actions.map((action): Change => {
    const [name, ...more] = action.path.elements;
    if (more.length > 0 || typeof name !== 'string') throw unsupported;
    const path: unknown = name.startsWith('#') ? names[name] : name;
    if (typeof path !== 'string' || path === '') throw unsupported;
    if (action.kind === 'remove') return { op: 'remove', path };
    if (action.kind === 'delete' || action.value.kind !== 'value') throw unsupported;
    return { op: action.kind, path, value: values[action.value.name] };
  });
}

function parse(expression: string): UpdateNode {
  try {
    return parseUpdate(expression, 'UpdateExpression');
  } catch {
    throw unsupported;
  }
}

const hasSame = (used: readonly string[], given: Fields): boolean => {
  const names = Object.keys(given);
  return names.length === new Set(used).size && names.every(name => used.includes(name));
};

function checkFields(input: Fields, allowed: ReadonlySet<string>): void {
  for (const name of Object.keys(input)) if (!allowed.has(name)) throw unsupported;
}

function copyItem(item: unknown): NativeItem {
  if (!isObject(item)) throw unsupported;
  const copy: NativeItem = {};
  for (const name of Object.keys(item)) {
    const value = item[name];
    if (name === '__proto__') throw unsupported;
    copy[name] = isBytes(value) ? Buffer.from(value) : typeof value === 'object' ? copyPlain(value) : value;
  }
  return copy;
}

function isObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
