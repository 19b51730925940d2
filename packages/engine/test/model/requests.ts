import type { AttributeValue } from '../../src/values/attribute-value.ts';
import type { Change, Condition, Write } from './table-model.ts';

// The model's writes as DynamoDB requests.

export const tableName = 'model';

type Expressions = {
  clauses: string[];
  names: Record<string, string>;
  values: Record<string, AttributeValue>;
};

function addName({ names }: Expressions, name: string): string {
  names[`#${name}`] = name;
  return `#${name}`;
}

function addValue({ values }: Expressions, value: AttributeValue): string {
  const placeholder = `:v${Object.keys(values).length}`;
  values[placeholder] = value;
  return placeholder;
}

function conditionText(condition: Condition, to: Expressions): string {
  if (condition === 'exists') return `attribute_exists(${addName(to, 'pk')})`;
  if (condition === 'absent') return `attribute_not_exists(${addName(to, 'pk')})`;
  return `${addName(to, condition.name)} = ${addValue(to, condition.equals)}`;
}

function updateText({ set, remove, add, addTag, dropTag }: Change, to: Expressions): string {
  const clauses: string[] = [];
  if (set) {
    const parts = Object.entries(set).map(([name, value]) => `${addName(to, name)} = ${addValue(to, value)}`);
    clauses.push(`SET ${parts.join(', ')}`);
  }
  if (remove) clauses.push(`REMOVE ${remove.map(name => addName(to, name)).join(', ')}`);
  const added = [
    ...(add === undefined ? [] : [`${addName(to, 'count')} ${addValue(to, { N: add })}`]),
    ...(addTag === undefined ? [] : [`${addName(to, 'tags')} ${addValue(to, { SS: [addTag] })}`]),
  ];
  if (added.length > 0) clauses.push(`ADD ${added.join(', ')}`);
  if (dropTag !== undefined) clauses.push(`DELETE ${addName(to, 'tags')} ${addValue(to, { SS: [dropTag] })}`);
  return clauses.join(' ');
}

const operations = { put: 'Put', update: 'Update', delete: 'Delete', check: 'ConditionCheck' } as const;

// As TransactWriteItems takes it; the single operations take the same members.
export function requestOf(write: Write): { kind: (typeof operations)[Write['kind']]; input: object } {
  const to: Expressions = { clauses: [], names: {}, values: {} };
  const update = write.kind === 'update' ? updateText(write.change, to) : undefined;
  const condition = write.condition && conditionText(write.condition, to);
  return {
    kind: operations[write.kind],
    input: {
      TableName: tableName,
      ...(write.kind === 'put' ? { Item: write.item } : { Key: write.key }),
      ...(update && { UpdateExpression: update }),
      ...(condition && { ConditionExpression: condition }),
      ...(Object.keys(to.names).length > 0 && { ExpressionAttributeNames: to.names }),
      ...(Object.keys(to.values).length > 0 && { ExpressionAttributeValues: to.values }),
    },
  };
}

export const batchRequestOf = (write: Write): object =>
  write.kind === 'put'
    ? { PutRequest: { Item: write.item } }
    : { DeleteRequest: { Key: (write as { key: object }).key } };
