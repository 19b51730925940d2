import { ActionIcon, Group, Textarea } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { type KeyboardEvent, useState } from 'react';
import { submitHandler } from '../../../components/submit-handler.ts';

type Props = { isBusy: boolean; onSay: (content: string) => void };

// Enter sends, Shift+Enter starts a new line. Text typed during an answer is kept until the answer is complete.
export function Composer({ isBusy, onSay }: Props) {
  const [content, setContent] = useState('');
  const send = () => {
    if (isBusy || content.trim() === '') return;
    onSay(content.trim());
    setContent('');
  };
  const submit = submitHandler(() => send());
  const press = (event: KeyboardEvent) => {
    // During IME composition, Enter confirms the word.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="end" wrap="nowrap">
        <Textarea
          flex={1}
          aria-label="Message"
          dir="auto"
          placeholder="Write a message. Enter sends it."
          autosize
          minRows={1}
          maxRows={6}
          maxLength={32_000}
          value={content}
          onChange={event => setContent(event.currentTarget.value)}
          onKeyDown={press}
        />
        <ActionIcon type="submit" size={36} aria-label="Send" loading={isBusy}>
          <IconSend size={18} />
        </ActionIcon>
      </Group>
    </form>
  );
}
