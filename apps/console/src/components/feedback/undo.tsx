import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';

const shownMs = 8_000; // long enough to read it and change your mind
let shown: string | undefined;

/** Says what was done and offers to undo it. Only the last action can be undone. */
export function offerUndo(message: string, undo: () => void): void {
  if (shown !== undefined) notifications.hide(shown);
  const id = notifications.show({
    autoClose: shownMs,
    message: (
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm" className="stak-break" lineClamp={2}>
          {message}
        </Text>
        <Button
          size="compact-sm"
          variant="default"
          flex="none"
          onClick={() => {
            notifications.hide(id);
            undo();
          }}
        >
          Undo
        </Button>
      </Group>
    ),
  });
  shown = id;
}
