import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { submitHandler } from '../submit-handler.ts';

type Props = {
  isOpen: boolean;
  title: string;
  label: string;
  taken: readonly string[]; // names that would be replaced
  onClose: () => void;
  onSubmit: (text: string) => void;
};

/** Asks for a name. */
export function Prompt({ isOpen, title, label, taken, onClose, onSubmit }: Props) {
  const [name, setName] = useState('');
  const close = () => {
    setName('');
    onClose();
  };
  const submit = submitHandler(text => {
    const chosen = text('text').trim();
    if (chosen === '') return;
    onSubmit(chosen);
    close();
  });
  return (
    <Modal opened={isOpen} onClose={close} title={title}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            name="text"
            label={label}
            description={
              taken.includes(name.trim()) ? 'There is one with this name: it is replaced.' : undefined
            }
            onChange={event => setName(event.currentTarget.value)}
            required
            maxLength={60}
            data-autofocus
            autoComplete="off"
          />
          <Group justify="end">
            <Button type="submit">{taken.includes(name.trim()) ? 'Replace' : 'Save'}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
