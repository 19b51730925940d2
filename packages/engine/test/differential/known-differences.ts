import { type Call, canonical, type Result } from './comparison.ts';
import type { Json } from './fragments.ts';
import type { Request } from './request-values.ts';

// Lists where dynoxide 1.2.1 is known not to do what DynamoDB does, and why we say so. A difference that no entry
// explains fails the test. `spoils` marks those after which the two no longer hold the same items.

type Difference = { request: Request; ours: Result; theirs: Result };
type Known = { fault: string; spoils?: boolean; explains(difference: Difference): boolean };

const failed = (result: Result) => ('error' in result ? result : undefined);
const isInvalid = (result: Result) => failed(result)?.error === 'ValidationException';
const messageOf = (result: Result): string =>
  (failed(result)?.message ?? '').replace(/^1 validation error detected: /, '');
const answerOf = (result: Result): Json => ('answer' in result ? result.answer : {});
const attributesOf = (result: Result): Json => (answerOf(result).Attributes ?? {}) as Json;
const reasonsOf = (result: Result): Json[] => failed(result)?.reasons ?? [];
const without = (json: Json, ...names: string[]): string =>
  canonical(Object.fromEntries(Object.entries(json).filter(([name]) => !names.includes(name))));

// DynamoDB refuses these before it looks at any item, in its own words.
const refusals: [fault: string, message: RegExp][] = [
  [
    'does not check the types of operands before it evaluates them',
    /Incorrect operand type for operator or function|The BETWEEN operator requires|Condition parameter type does not match schema type/,
  ],
  [
    'does not check the operators and values of legacy conditions',
    /ConditionalOperator (cannot|can only) be used|ComparisonOperator \w+ is not valid for|must be of same type|Invalid number of argument|BETWEEN condition was provided a range|(ADD|DELETE) action/,
  ],
  ['compares an operand with itself', /The first operand must be distinct from the remaining operands/],
  ['does not mind redundant parentheses', /redundant parentheses/],
  ['does not mind unused names and values', /unused in expressions/],
  [
    'misses undefined values in the part of a condition that it does not come to',
    /is not defined; attribute/,
  ],
  [
    'finds overlapping paths only when it applies the update, and names others',
    /Two document paths overlap with each other/,
  ],
  ['reports the operand of an update before its path', /is invalid for update|has an incorrect data type/],
  [
    'accepts legacy parameters beside expressions',
    /Can not use both expression and non-expression parameters/,
  ],
  ['accepts any name as a type', /Invalid attribute type name found/],
  [
    'answers without the attributes that a global index does not project',
    /Global secondary index \w+ does not project/,
  ],
  ['takes 1 and 1.0 for two keys', /Provided list of item keys contains duplicates/],
  [
    'has its own words for syntax errors',
    /Syntax error|Invalid function name|number of operands|not allowed to be used/,
  ],
];

const knownDifferences: Known[] = [
  ...refusals.map(
    ([fault, message]): Known => ({
      fault,
      spoils: true,
      explains: ({ ours }) => isInvalid(ours) && message.test(messageOf(ours)),
    }),
  ),
  {
    fault: 'of several mistakes reports another one, or has its own words for it',
    explains: ({ ours, theirs }) => isInvalid(ours) && isInvalid(theirs),
  },
  {
    fault: 'returns the keys of an item that UpdateItem has just created as its ALL_OLD',
    explains: ({ request, ours, theirs }) =>
      request.input.ReturnValues === 'ALL_OLD' &&
      !failed(ours) &&
      !answerOf(ours).Attributes &&
      without(answerOf(theirs), 'Attributes') === canonical(answerOf(ours)),
  },
  {
    fault: 'returns a whole attribute among the updated ones where only a path within it was missing',
    explains: ({ request, ours, theirs }) =>
      /^UPDATED_/.test(String(request.input.ReturnValues)) &&
      /[.[]/.test(String(request.input.UpdateExpression)) &&
      without(answerOf(ours), 'Attributes') === without(answerOf(theirs), 'Attributes') &&
      Object.keys(attributesOf(ours)).every(name => name in attributesOf(theirs)),
  },
  {
    fault: 'lets REMOVE pass through what is neither map nor list, and has its own words for types',
    spoils: true,
    explains: ({ request, ours }) =>
      request.operation === 'TransactWriteItems' &&
      reasonsOf(ours).some(({ Code }) => Code === 'ValidationError'),
  },
  {
    fault: 'takes NOT_CONTAINS to be true of an attribute that is missing',
    spoils: true,
    explains: ({ request }) => JSON.stringify(request.input).includes('NOT_CONTAINS'),
  },
  {
    fault: 'does not fetch from the table what a local index lacks, nor bills reads to the index',
    explains: ({ request, ours, theirs }) =>
      request.input.IndexName === 'local' &&
      (request.input.ProjectionExpression !== undefined ||
        without(answerOf(ours), 'capacity') === without(answerOf(theirs), 'capacity')),
  },
  {
    fault: 'adds the keys to what TransactGetItems projects',
    explains: ({ request, ours, theirs }) =>
      request.operation === 'TransactGetItems' && withoutKeys(ours) === withoutKeys(theirs),
  },
];

const withoutKeys = (result: Result): string =>
  canonical(
    ((answerOf(result).Responses ?? []) as { Item?: Json }[]).map(({ Item }) =>
      without(Item ?? {}, 'pk', 'sk'),
    ),
  );

// dynoxide creates an item when an update of a missing one only removes attributes, and does not say so. Such
// updates are not sent.
export async function createsByRemoving(call: Call, { operation, input }: Request): Promise<boolean> {
  const transacted = (input.TransactItems ?? []) as { Update?: Json }[];
  const updates = transacted.flatMap(({ Update }): Json[] => (Update ? [Update] : []));
  if (operation === 'UpdateItem') updates.push(input);
  for (const update of updates.filter(removesOnly)) {
    const found = await call('GetItem', { TableName: update.TableName, Key: update.Key });
    if (!answerOf(found).Item) return true;
  }
  return false;
}

function removesOnly({ UpdateExpression, AttributeUpdates }: Json): boolean {
  if (UpdateExpression !== undefined) return !/\b(SET|ADD)\b/.test(String(UpdateExpression));
  const actions = Object.values((AttributeUpdates ?? {}) as Record<string, { Action?: string }>);
  return actions.length > 0 && actions.every(({ Action }) => Action === 'DELETE');
}

export const explain = (difference: Difference): Known | undefined =>
  knownDifferences.find(known => known.explains(difference));
