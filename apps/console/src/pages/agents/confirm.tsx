import { Button, Group, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';

type Props = {
  title: string;
  text: string; // what will be gone
  button: string;
  onConfirm: () => void;
  children: (ask: () => void) => ReactNode; // what one clicks before it is asked
};

// Asks before something is done that cannot be undone.
export function Confirm({ title, text, button, onConfirm, children }: Props) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const confirm = () => {
    close();
    onConfirm();
  };
  return (
    <>
      {children(open)}
      <Modal opened={isOpen} onClose={close} title={title}>
        <Text size="sm">{text}</Text>
        <Group justify="end" mt="md">
          <Button variant="default" onClick={close} data-autofocus>
            Cancel
          </Button>
          <Button color="red" onClick={confirm}>
            {button}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
