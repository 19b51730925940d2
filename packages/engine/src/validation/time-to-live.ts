import { checkConstraints } from './constraints.ts';
import { boolean, required, string, structure, type TypeOf } from './shape.ts';
import { checkTableNameLength, knownTableName, resolveTableArn } from './table-name.ts';

export const updateTimeToLiveShape = structure('UpdateTimeToLiveInput', {
  TableName: knownTableName,
  TimeToLiveSpecification: required(
    structure('TimeToLiveSpecification', {
      Enabled: required(boolean),
      AttributeName: required(string({ min: 1, max: 255 })),
    }),
  ),
});
export type UpdateTimeToLiveInput = TypeOf<typeof updateTimeToLiveShape>;

export const describeTimeToLiveShape = structure('DescribeTimeToLiveInput', { TableName: knownTableName });
export type DescribeTimeToLiveInput = TypeOf<typeof describeTimeToLiveShape>;

export function validateUpdateTimeToLive(input: UpdateTimeToLiveInput): void {
  resolveTableArn(input);
  checkTableNameLength(input);
  checkConstraints(updateTimeToLiveShape, input);
}

export function validateDescribeTimeToLive(input: DescribeTimeToLiveInput): void {
  resolveTableArn(input);
  checkTableNameLength(input);
  checkConstraints(describeTimeToLiveShape, input);
}
