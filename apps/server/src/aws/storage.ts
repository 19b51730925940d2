import { type AnyTable, tableRequest } from '@stak/table';
import { arnOf, ref, sub } from './references.ts';
import type { Resource, Resources } from './template.ts';

// Data stay when the stack is deleted.
const kept = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };

export function storage(designs: readonly AnyTable[], prefix: string): Resources {
  return {
    Key: key,
    ...Object.fromEntries(designs.map(design => [tableId(design), tableResource(design, prefix)])),
    LakeBucket: bucket,
    LakeBucketPolicy: bucketPolicy,
  };
}

/** The name of a table in the template, like FerryhookMainTable. */
export const tableId = ({ name }: AnyTable): string =>
  `${name.replace(/(?:^|[^A-Za-z0-9])([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())}Table`;

// CloudFormation uses the names of CreateTable, except for these.
function tableResource(design: AnyTable, prefix: string): Resource {
  const { StreamSpecification, ...request } = tableRequest(design);
  return {
    Type: 'AWS::DynamoDB::Table',
    ...kept,
    Properties: {
      ...request,
      TableName: prefix + design.name,
      ...(StreamSpecification && {
        StreamSpecification: { StreamViewType: StreamSpecification.StreamViewType },
      }),
      ...(design.ttl !== undefined && {
        TimeToLiveSpecification: { AttributeName: design.ttl, Enabled: true },
      }),
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      DeletionProtectionEnabled: true,
      SSESpecification: {
        SSEEnabled: true,
        SSEType: 'KMS',
        KMSMasterKeyId: arnOf('Key'),
      },
    },
  };
}

const key: Resource = {
  Type: 'AWS::KMS::Key',
  ...kept,
  Properties: {
    Description: 'Encrypts the tables and the lake of Stak',
    EnableKeyRotation: true,
    KeyPolicy: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Principal: { AWS: sub('arn:<AWS::Partition>:iam::<AWS::AccountId>:root') },
          Action: 'kms:*',
          Resource: '*',
        },
      ],
    },
  },
};

/** Encrypted, and closed to the public. */
export const closedBucket = (Rules: readonly object[]): Resource => ({
  Type: 'AWS::S3::Bucket',
  ...kept,
  Properties: {
    BucketEncryption: {
      ServerSideEncryptionConfiguration: [
        {
          BucketKeyEnabled: true,
          ServerSideEncryptionByDefault: {
            SSEAlgorithm: 'aws:kms',
            KMSMasterKeyID: arnOf('Key'),
          },
        },
      ],
    },
    OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
    PublicAccessBlockConfiguration: {
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    },
    // No versions are kept: an erasure must erase.
    LifecycleConfiguration: { Rules },
  },
});

const bucket = closedBucket([
  {
    Id: 'uploads-that-were-broken-off',
    Status: 'Enabled',
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
  },
]);

const bucketPolicy: Resource = {
  Type: 'AWS::S3::BucketPolicy',
  Properties: {
    Bucket: ref('LakeBucket'),
    PolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Deny',
          Principal: '*',
          Action: 's3:*',
          Resource: [arnOf('LakeBucket'), sub('<LakeBucket.Arn>/*')],
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        },
      ],
    },
  },
};
