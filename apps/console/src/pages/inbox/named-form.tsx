import { Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Failure } from '../../components/feedback/failure.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../components/fields/submit-row.tsx';
import { slugOf } from '../../text/slug.ts';

export type Named = { key: string; title: string };

// A name, and a key that is derived from it until somebody edits it.
export function NamedForm({
  titleLabel,
  placeholder,
  button,
  isBusy,
  error,
  onSubmit,
}: {
  titleLabel: string;
  placeholder: string;
  button: string;
  isBusy: boolean;
  error: unknown;
  onSubmit: (named: Named) => void;
}) {
  const [title, setTitle] = useState('');
  const [ownKey, setOwnKey] = useState<string>();
  const key = ownKey ?? slugOf(title);
  const submit = submitHandler(() => onSubmit({ key, title }));
  return (
    <form onSubmit={submit}>
      <Stack>
        {error !== null && <Failure error={error} />}
        <TextInput
          label={titleLabel}
          placeholder={placeholder}
          required
          maxLength={100}
          value={title}
          onChange={event => setTitle(event.currentTarget.value)}
        />
        <TextInput
          label="Key"
          description="Part of addresses. It cannot be changed later."
          required
          maxLength={63}
          value={key}
          onChange={event => setOwnKey(event.currentTarget.value)}
        />
        <SubmitRow isBusy={isBusy}>{button}</SubmitRow>
      </Stack>
    </form>
  );
}
