import { Button, Group, Stack, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import { Failure } from '../../components/feedback/failure.tsx';

type Props = {
  label: string;
  name: string;
  isBusy: boolean;
  error: unknown;
  onRename: (name: string) => void;
};

export function RenameForm({ label, name, isBusy, error, onRename }: Props) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onRename(String(new FormData(event.currentTarget).get('name')).trim());
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {error !== null && <Failure error={error} />}
        <TextInput name="name" label={label} required maxLength={200} defaultValue={name} data-autofocus />
        <Group justify="end">
          <Button type="submit" loading={isBusy}>
            Rename
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
