import { Button, Group, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';

export type Question = {
  title: string;
  text: ReactNode; // what will be lost
  button: string;
  color?: string; // of the button, if the action is not destructive
  keep?: string; // label of the way out, where "Cancel" could mean the action itself
};

type DialogProps = Question & {
  isOpen: boolean;
  isDisabled?: boolean; // while the question is still loading, or there is nothing to do
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
  children: (ask: () => void) => ReactNode; // the element that opens the dialog
};

// Asks for confirmation before an action that cannot be undone.
export function Confirm({ children, ...question }: Props) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      {children(open)}
      <ConfirmDialog {...question} isOpen={isOpen} onClose={close} />
    </>
  );
}
