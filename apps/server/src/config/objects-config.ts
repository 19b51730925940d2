import type { ObjectsConfig } from './config.ts';
import { UsageError } from './errors.ts';

type Variables = { STAK_AWS_REGION?: string | undefined; STAK_S3_ENDPOINT?: string | undefined };

// `C:` is a drive.
const otherScheme = /^[a-z][a-z0-9+.-]+:/i;

// A folder, or s3://bucket/prefix. What looks like a place elsewhere is never the name of a folder here: the operator
// would look for their backup in vain after this machine is lost.
export function readObjectsConfig(
  setting: string,
  text: string,
  { STAK_AWS_REGION: region, STAK_S3_ENDPOINT: endpoint }: Variables,
): ObjectsConfig {
  const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(text) ?? [];
  if (bucket === undefined && otherScheme.test(text))
    throw new UsageError(`${setting} must be a folder or s3://bucket/prefix, not ${JSON.stringify(text)}`);
  if (bucket === undefined) return { kind: 'folder', path: text };
  if (!region) throw new UsageError(`${setting} in a bucket needs STAK_AWS_REGION`);
  return { kind: 's3', bucket, prefix, region, ...(endpoint !== undefined && { endpoint }) };
}
