import { boolean, list, long, oneOf, refused, required, string, structure, type TypeOf } from './shape.ts';
import { indexName } from './table-name.ts';

// CreateTable and UpdateTable both take these members.
const provisionedThroughput = structure('ProvisionedThroughput', {
  WriteCapacityUnits: required(long(1)),
  ReadCapacityUnits: required(long(1)),
});

const keyElement = structure('KeySchemaElement', {
  AttributeName: required(string({ min: 1, max: 255 })),
  KeyType: required(oneOf('HASH', 'RANGE')),
});
const keySchema = required(list(keyElement, 1, 2));
// Each part of its key can have several attributes; the shape does not limit their number.
const globalKeySchema = required(list(keyElement, 1));

const projection = required(
  structure('Projection', {
    ProjectionType: oneOf('ALL', 'INCLUDE', 'KEYS_ONLY'),
    NonKeyAttributes: list(string({ min: 1, max: 255 }), 1, 20),
  }),
);

const attributeDefinitions = list(
  structure('AttributeDefinition', {
    AttributeName: required(string({ min: 1, max: 255 })),
    AttributeType: required(oneOf('B', 'N', 'S')),
  }),
);

const onDemandThroughput = structure('OnDemandThroughput', {
  MaxReadRequestUnits: long(),
  MaxWriteRequestUnits: long(),
});

const warmThroughput = structure('WarmThroughput', {
  ReadUnitsPerSecond: long(),
  WriteUnitsPerSecond: long(),
});

const oneRegion = 'this store is in one region, without replicas';

export const tableMembers = {
  attributeDefinitions,
  keySchema,
  globalKeySchema,
  projection,
  provisionedThroughput,
  onDemandThroughput,
  warmThroughput,
  replication: refused(oneRegion),
  indexName: required(indexName),
  billingMode: oneOf('PROVISIONED', 'PAY_PER_REQUEST'),
  tableClass: oneOf('STANDARD', 'STANDARD_INFREQUENT_ACCESS'),
  streamSpecification: structure('StreamSpecification', {
    StreamEnabled: required(boolean),
    StreamViewType: oneOf('NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES', 'KEYS_ONLY'),
  }),
  sseSpecification: structure('SSESpecification', {
    Enabled: boolean,
    SSEType: oneOf('AES256', 'KMS'),
    KMSMasterKeyId: string(),
  }),
};

export type KeySchemaInput = TypeOf<typeof keySchema>;
export type AttributeDefinitionsInput = TypeOf<typeof attributeDefinitions>;
export type ProjectionInput = TypeOf<typeof projection>;
export type ThroughputInput = TypeOf<typeof provisionedThroughput>;
export type OnDemandThroughputInput = TypeOf<typeof onDemandThroughput>;
export type WarmThroughputInput = TypeOf<typeof warmThroughput>;
