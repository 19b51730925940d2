import { Button, Group, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';

export type Question = {
  title: string;
  text: ReactNode; // what will be gone
  button: string;
  color?: string; // of the button, where it does not destroy anything
  keep?: string; // the way out, where "Cancel" would be taken for the deed
};

type DialogProps = Question & {
  isOpen: boolean;
  isDisabled?: boolean; // while it is not known what is asked, or there is nothing to do
  onConfirm: () => void;
  onClose: () => void;
};

export function ConfirmDialog({
  title,
  text,
  button,
  color = 'red',
  keep = 'Cancel',
  isOpen,
  isDisabled = false,
  onConfirm,
  onClose,
}: DialogProps) {
  const confirm = () => {
    onClose();
    onConfirm();
  };
  return (
    <Modal opened={isOpen} onClose={onClose} title={title}>
      <Text size="sm" component="div" className="stak-break">
        {text}
      </Text>
      <Group justify="end" mt="md">
        <Button variant="default" onClick={onClose} data-autofocus>
          {keep}
        </Button>
        <Button color={color} disabled={isDisabled} onClick={confirm}>
          {button}
        </Button>
      </Group>
    </Modal>
  );
}

type Props = Question & {
  onConfirm: () => void;
  children: (ask: () => void) => ReactNode; // what one clicks before it is asked
};

// Asks before something is done that cannot be undone.
export function Confirm({ children, ...question }: Props) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      {children(open)}
      <ConfirmDialog {...question} isOpen={isOpen} onClose={close} />
    </>
  );
}
