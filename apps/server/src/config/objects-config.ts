import type { ObjectsConfig } from './config.ts';
import { UsageError } from './errors.ts';

type Variables = { STAK_AWS_REGION?: string | undefined; STAK_S3_ENDPOINT?: string | undefined };

// A folder, or s3://bucket/prefix.
export function readObjectsConfig(
  setting: string,
  text: string,
  { STAK_AWS_REGION: region, STAK_S3_ENDPOINT: endpoint }: Variables,
): ObjectsConfig {
  const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(text) ?? [];
  if (bucket === undefined) return { kind: 'folder', path: text };
  if (!region) throw new UsageError(`${setting} in a bucket needs STAK_AWS_REGION`);
  return { kind: 's3', bucket, prefix, region, ...(endpoint !== undefined && { endpoint }) };
}
