import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';

const shownMs = 8_000; // long enough to read it and to change one's mind
let shown: string | undefined;

/** Says what was done, and offers to take it back. Only the last deed can be taken back. */
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
