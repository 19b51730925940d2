import { Alert, Button, Group, Text } from '@mantine/core';
import { isOvertaken } from '../../queries/save-over.ts';
import { Failure } from './failure.tsx';

type Props = { error: unknown; onReadAgain?: (() => void) | undefined };

/** Why a form was not saved. If somebody else saved first, the typed values stay until the user discards them. */
export function SaveFailure({ error, onReadAgain }: Props) {
  if (!isOvertaken(error)) return <Failure error={error} />;
  return (
    <Alert color="orange" title="Somebody else has saved these settings" role="alert">
      <Group justify="space-between">
        <Text size="sm">Nothing was overwritten. Look at what they saved and make your change again.</Text>
        {onReadAgain && (
          <Button size="xs" variant="light" color="orange" onClick={onReadAgain}>
            Show what was saved
          </Button>
        )}
      </Group>
    </Alert>
  );
}
