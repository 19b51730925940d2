import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';

type Props = {
  isOpen: boolean;
  title: string;
  label: string;
  onClose: () => void;
  onSubmit: (text: string) => void;
};

/** Asks for a name. */
export function Prompt({ isOpen, title, label, onClose, onSubmit }: Props) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('text') ?? '').trim();
    if (text === '') return;
    onSubmit(text);
    onClose();
  };
  return (
    <Modal opened={isOpen} onClose={onClose} title={title}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput name="text" label={label} required maxLength={60} data-autofocus autoComplete="off" />
          <Group justify="end">
            <Button type="submit">Save</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
