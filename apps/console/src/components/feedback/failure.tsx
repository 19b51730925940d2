import { Alert, Button, Group } from '@mantine/core';
import { StakError } from '@stak/client';
import { messageOf } from '../../queries/api.ts';

// What the server refuses, it refuses again, unless others were in the way.
const isFinal = (error: unknown): boolean =>
  error instanceof StakError && error.status < 500 && ![408, 409, 429].includes(error.status);

// Says what went wrong and offers to try again, if that may help.
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <Alert color="red" title="This did not work" role="alert">
      <Group justify="space-between">
        {messageOf(error)}
        {onRetry && !isFinal(error) && (
          <Button size="xs" variant="light" color="red" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}
