import { Alert, Button, Group } from '@mantine/core';
import { messageOf } from '../queries/api.ts';

// What went wrong, in words, and the one thing to do about it.
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <Alert color="red" title="This did not work" role="alert">
      <Group justify="space-between">
        {messageOf(error)}
        {onRetry && (
          <Button size="xs" variant="light" color="red" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}
