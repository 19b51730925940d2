import { validationError } from '../errors.ts';
import { checkAttributesToGet } from './attributes-to-get.ts';
import { validateConditions } from './conditions.ts';
import { checkConstraints } from './constraints.ts';
import { checkExpressionMix, checkExpressionReferences } from './expression-parameters.ts';
import * as members from './members.ts';
import { checkSelect, validateStartKey } from './read-parameters.ts';
import { attributes, boolean, integer, map, structure, type TypeOf } from './shape.ts';
import { indexName, resolveTableArn, tableName } from './table-name.ts';

const maxSegments = 1_000_000;

export const scanShape = structure('ScanInput', {
  TableName: tableName,
  Select: members.select,
  TotalSegments: integer(1, maxSegments),
  IndexName: indexName,
  ReturnConsumedCapacity: members.returnConsumedCapacity,
  ConditionalOperator: members.conditionalOperator,
  ScanFilter: map(members.condition),
  AttributesToGet: members.attributesToGet,
  Segment: integer(0, maxSegments - 1),
  Limit: integer(1),
  ExclusiveStartKey: attributes,
  ConsistentRead: boolean,
  FilterExpression: members.expression,
  ProjectionExpression: members.expression,
  ExpressionAttributeValues: members.attributeValues,
  ExpressionAttributeNames: members.attributeNames,
});
export type ScanInput = TypeOf<typeof scanShape>;

export function validateScan(input: ScanInput): void {
  resolveTableArn(input);
  checkConstraints(scanShape, input);
  checkExpressionMix(
    input,
    ['ProjectionExpression', 'FilterExpression'],
    ['AttributesToGet', 'ScanFilter', 'ConditionalOperator'],
  );
  checkAttributesToGet(input.AttributesToGet);
  validateConditions(input.ScanFilter);
  validateStartKey(input.ExclusiveStartKey);
  checkSegments(input.Segment, input.TotalSegments);
  checkExpressionReferences(input, ['FilterExpression', 'ProjectionExpression']);
  checkSelect(input, validationError);
}

function checkSegments(segment: number | undefined, total: number | undefined): void {
  if (segment != null && total == null) {
    throw validationError(
      'The TotalSegments parameter is required but was not present in the request when Segment parameter is present',
    );
  }
  if (total == null) return;
  if (segment == null) {
    throw validationError(
      'The Segment parameter is required but was not present in the request when parameter TotalSegments is present',
    );
  }
  if (segment >= total) {
    throw validationError(
      'The Segment parameter is zero-based and must be less than parameter TotalSegments: ' +
        `Segment: ${segment} is not less than TotalSegments: ${total}`,
    );
  }
}
