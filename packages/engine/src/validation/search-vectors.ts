import { validationError } from '../errors.ts';
import * as limits from '../limits.ts';
import type { VectorIndex } from '../storage/table.ts';
import { searchAttributes } from '../storage/table.ts';
import type { AttributeValue } from '../values/attribute-value.ts';
import { misfitIn } from '../vectors/values.ts';
import { validateValue } from './attribute-values.ts';
import { checkConstraints } from './constraints.ts';
import { checkExpressionMix, checkExpressionReferences } from './expression-parameters.ts';
import * as members from './members.ts';
import { integer, list, required, structure, type TypeOf, value } from './shape.ts';
import { indexName, resolveTableArn, tableName } from './table-name.ts';

export const searchVectorsShape = structure('SearchVectorsInput', {
  TableName: tableName,
  IndexName: required(indexName),
  SearchVector: required(list(value, 1, limits.vectorDimensions)),
  TopK: required(integer(1)),
  ReturnConsumedCapacity: members.returnConsumedCapacity,
  SearchConditionExpression: members.expression,
  ProjectionExpression: members.expression,
  ExpressionAttributeNames: members.attributeNames,
  ExpressionAttributeValues: members.attributeValues,
});
export type SearchVectorsInput = TypeOf<typeof searchVectorsShape>;

export function validateSearchVectors(input: SearchVectorsInput): void {
  resolveTableArn(input);
  checkConstraints(searchVectorsShape, input);
  const { SearchVector, TopK } = input;
  if (TopK > limits.nearestVectors) {
    throw validationError(
      `Provided TopK value '${TopK}' is out of valid range. The value must be between 1 and ` +
        `${limits.nearestVectors} inclusive`,
    );
  }
  for (const member of SearchVector) validateValue(member);
  if (misfitIn(SearchVector) !== undefined) {
    throw validationError(
      'Search vector contains invalid values. All values in the search vector must be a 32-bit floating-point ' +
        'number attribute',
    );
  }
  checkExpressionMix(input, ['ProjectionExpression', 'SearchConditionExpression'], []);
  checkExpressionReferences(input, ['SearchConditionExpression', 'ProjectionExpression']);
}

// Checks that need the index.
export function checkSearch(
  index: VectorIndex,
  { SearchVector }: SearchVectorsInput,
  conditions: ReadonlyMap<string, AttributeValue> | undefined,
): void {
  if (SearchVector.length !== index.dimensions) {
    throw validationError(
      `Input search vector dimension ${SearchVector.length} does not match vector index dimension ${index.dimensions}`,
    );
  }
  const { hash } = index;
  if (hash && !conditions) {
    throw validationError('SearchConditionExpression must be provided when SearchSchema has a HASH key');
  }
  const schema = searchAttributes(index);
  for (const [name, value] of conditions ?? []) {
    const attribute = schema.find(element => element.name === name);
    if (!attribute) {
      throw validationError(
        'SearchConditionExpression must not contain any attributes that is not in SearchSchema. Invalid attribute: ' +
          name,
      );
    }
    if (attribute.type in value) continue;
    throw validationError(
      `Search condition value for attribute '${name}' does not match type in search schema`,
    );
  }
  if (hash && !conditions?.has(hash.name))
    throw validationError('SearchConditionExpression must have all HASH attributes');
}
