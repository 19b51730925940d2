import { Alert, Code } from '@mantine/core';
import { StakError } from '@stak/client';
import { Failure } from './failure.tsx';

// A server without a lake has no routes for it.
export const isWithoutLake = (error: unknown): boolean =>
  error instanceof StakError && error.code === 'http.not_found';

export function LakeFailure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (!isWithoutLake(error)) return <Failure error={error} {...(onRetry && { onRetry })} />;
  return (
    <Alert color="gray" title="This server keeps no lake">
      These numbers come from it. Set <Code>STAK_LAKE</Code> to a folder or to s3://bucket/prefix and start
      the server again.
    </Alert>
  );
}
