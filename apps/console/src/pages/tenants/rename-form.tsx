import { Stack, TextInput } from '@mantine/core';
import { Failure } from '../../components/feedback/failure.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../components/fields/submit-row.tsx';

type Props = {
  label: string;
  name: string;
  isBusy: boolean;
  error: unknown;
  onRename: (name: string) => void;
};

export function RenameForm({ label, name, isBusy, error, onRename }: Props) {
  const submit = submitHandler(text => onRename(text('name').trim()));
  return (
    <form onSubmit={submit}>
      <Stack>
        {error !== null && <Failure error={error} />}
        <TextInput name="name" label={label} required maxLength={200} defaultValue={name} data-autofocus />
        <SubmitRow isBusy={isBusy}>Rename</SubmitRow>
      </Stack>
    </form>
  );
}
