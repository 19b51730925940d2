import { validationError } from '../errors.ts';
import { invalid } from './attribute-values.ts';
import { checkConstraints } from './constraints.ts';
import {
  boolean,
  integer,
  oneOf,
  required,
  type StructureShape,
  string,
  structure,
  type TypeOf,
} from './shape.ts';
import { checkTableNameLength, indexName, knownTableName, resolveTableArn } from './table-name.ts';

// Checks settings beside a table: recovery, policies, insights, destinations.

const checkTableInput = (shape: StructureShape, input: unknown): void => {
  resolveTableArn(input);
  checkTableNameLength(input);
  checkConstraints(shape, input as object);
};

export const updateContinuousBackupsShape = structure('UpdateContinuousBackupsInput', {
  TableName: knownTableName,
  PointInTimeRecoverySpecification: required(
    structure('PointInTimeRecoverySpecification', {
      PointInTimeRecoveryEnabled: required(boolean),
      RecoveryPeriodInDays: integer(1, 35),
    }),
  ),
});
export type UpdateContinuousBackupsInput = TypeOf<typeof updateContinuousBackupsShape>;

export function validateUpdateContinuousBackups(input: UpdateContinuousBackupsInput): void {
  checkTableInput(updateContinuousBackupsShape, input);
  const { PointInTimeRecoveryEnabled, RecoveryPeriodInDays } = input.PointInTimeRecoverySpecification;
  if (!PointInTimeRecoveryEnabled && RecoveryPeriodInDays != null) {
    throw validationError(
      'Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.',
    );
  }
}

// ---- resource policies

const resourceArn = required(string({ min: 1, max: 1283 }));
const expectedRevision = string({ min: 1, max: 255 });
const policyBytes = 20 * 1024;

export const getResourcePolicyShape = structure('GetResourcePolicyInput', { ResourceArn: resourceArn });
export const putResourcePolicyShape = structure('PutResourcePolicyInput', {
  ResourceArn: resourceArn,
  Policy: required(string()),
  ExpectedRevisionId: expectedRevision,
  ConfirmRemoveSelfResourceAccess: boolean,
});
export const deleteResourcePolicyShape = structure('DeleteResourcePolicyInput', {
  ResourceArn: resourceArn,
  ExpectedRevisionId: expectedRevision,
});
export type GetResourcePolicyInput = TypeOf<typeof getResourcePolicyShape>;
export type PutResourcePolicyInput = TypeOf<typeof putResourcePolicyShape>;
export type DeleteResourcePolicyInput = TypeOf<typeof deleteResourcePolicyShape>;

export function validateGetResourcePolicy(input: GetResourcePolicyInput): void {
  checkConstraints(getResourcePolicyShape, input);
  checkResourceArn(input.ResourceArn);
}

export function validatePutResourcePolicy(input: PutResourcePolicyInput): void {
  checkConstraints(putResourcePolicyShape, input);
  checkResourceArn(input.ResourceArn);
  checkPolicy(input.Policy);
}

export function validateDeleteResourcePolicy(input: DeleteResourcePolicyInput): void {
  checkConstraints(deleteResourcePolicyShape, input);
  checkResourceArn(input.ResourceArn);
}

// The document is stored, not enforced: signatures are not checked either.
export function checkPolicy(policy: string): void {
  if (Buffer.byteLength(policy) > policyBytes) {
    throw invalid(`Maximum policy size of ${policyBytes} bytes exceeded`);
  }
  let document: unknown;
  try {
    document = JSON.parse(policy);
  } catch {
    document = undefined;
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw invalid('Invalid policy document: This policy contains invalid Json');
  }
}

function checkResourceArn(arn: string): void {
  if (!arn.startsWith('arn:')) throw invalid(`ARNs must start with 'arn:': ${arn}`);
  const [, rest] = /^arn:[^:]+:dynamodb:[^:]*:\d*:table\/[a-zA-Z0-9_.-]+(.*)$/.exec(arn) ?? [];
  if (rest?.startsWith('/index/')) {
    throw invalid(
      `Invalid resource arn provided, only table or stream is accepted. Provided resource arn: ${arn}`,
    );
  }
  if (rest === undefined || !/^(?:\/stream\/[^/]+)?$/.test(rest)) {
    throw invalid(`Provided Arn is not a DynamoDB resource arn: ${arn}`);
  }
}

// ---- contributor insights

const insightsMode = oneOf('ACCESSED_AND_THROTTLED_KEYS', 'THROTTLED_KEYS');

export const describeContributorInsightsShape = structure('DescribeContributorInsightsInput', {
  TableName: knownTableName,
  IndexName: indexName,
});
export const updateContributorInsightsShape = structure('UpdateContributorInsightsInput', {
  TableName: knownTableName,
  IndexName: indexName,
  ContributorInsightsAction: required(oneOf('ENABLE', 'DISABLE')),
  ContributorInsightsMode: insightsMode,
});
const { required: _, ...optionalTableName } = knownTableName;
export const listContributorInsightsShape = structure('ListContributorInsightsInput', {
  TableName: optionalTableName,
  NextToken: string(),
  MaxResults: integer(undefined, 100),
});
export type DescribeContributorInsightsInput = TypeOf<typeof describeContributorInsightsShape>;
export type UpdateContributorInsightsInput = TypeOf<typeof updateContributorInsightsShape>;
export type ListContributorInsightsInput = TypeOf<typeof listContributorInsightsShape>;

export const validateDescribeContributorInsights = (input: DescribeContributorInsightsInput): void =>
  checkTableInput(describeContributorInsightsShape, input);
export const validateUpdateContributorInsights = (input: UpdateContributorInsightsInput): void =>
  checkTableInput(updateContributorInsightsShape, input);
export function validateListContributorInsights(input: ListContributorInsightsInput): void {
  resolveTableArn(input);
  checkConstraints(listContributorInsightsShape, input);
}

// ---- Kinesis destinations

const streamArn = required(string({ min: 37, max: 1024 }));
const precision = structure('KinesisStreamingConfiguration', {
  ApproximateCreationDateTimePrecision: oneOf('MILLISECOND', 'MICROSECOND'),
});
export const enableKinesisShape = structure('KinesisStreamingDestinationInput', {
  TableName: knownTableName,
  StreamArn: streamArn,
  EnableKinesisStreamingConfiguration: precision,
});
export const updateKinesisShape = structure('UpdateKinesisStreamingDestinationInput', {
  TableName: knownTableName,
  StreamArn: streamArn,
  UpdateKinesisStreamingConfiguration: precision,
});
export type EnableKinesisInput = TypeOf<typeof enableKinesisShape>;
export type UpdateKinesisInput = TypeOf<typeof updateKinesisShape>;

export const validateKinesisDestination = (input: EnableKinesisInput): void =>
  checkTableInput(enableKinesisShape, input);
export const validateUpdateKinesisDestination = (input: UpdateKinesisInput): void =>
  checkTableInput(updateKinesisShape, input);
