import { ActionIcon, Button, Group, Text, TextInput } from '@mantine/core';
import { IconThumbDown, IconThumbUp } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { submitHandler } from '../../../components/submit-handler.ts';
import { useAction } from '../../../queries/actions.ts';
import { client } from '../../../queries/api.ts';
import { useMay } from '../../../queries/permissions.ts';
import { type ConversationPath, type Turn, turnsKey } from '../queries.ts';

type Props = { conversationPath: ConversationPath; turn: Turn };
type Rating = 'good' | 'bad';

const thumbs = [
  { rating: 'good', label: 'Good answer', Icon: IconThumbUp },
  { rating: 'bad', label: 'Bad answer', Icon: IconThumbDown },
] as const;

/** The feedback of the host and of the user on an answer, with buttons for people of the host who may give it. */
export function TurnFeedback({ conversationPath, turn }: Props) {
  const { seq, host_feedback: feedback, feedback: userFeedback } = turn;
  const queries = useQueryClient();
  const mayRate = useMay()('agents.rateAnswer');
  const [comment, setComment] = useState('');
  const rate = useAction(
    (body: { rating: Rating | null; comment?: string }) =>
      client.agents.rateAnswer({ ...conversationPath, seq, body }),
    {
      onSuccess: () => setComment(''),
      onSettled: () => queries.invalidateQueries({ queryKey: turnsKey(conversationPath) }),
    },
  );
  const submit = submitHandler(() => rate.mutate({ rating: 'bad', comment: comment.trim() }));
  if (!mayRate && !feedback && !userFeedback) return null;
  return (
    <Group gap={6} role="group" aria-label="Feedback">
      {thumbs.map(({ rating, label, Icon }) => (
        <ActionIcon
          key={rating}
          size="sm"
          variant={feedback?.rating === rating ? 'light' : 'subtle'}
          color={feedback?.rating === rating ? (rating === 'good' ? 'teal' : 'red') : 'gray'}
          aria-label={label}
          aria-pressed={feedback?.rating === rating}
          disabled={!mayRate || rate.isPending}
          onClick={() => rate.mutate({ rating: feedback?.rating === rating ? null : rating })}
        >
          <Icon size={14} aria-hidden />
        </ActionIcon>
      ))}
      {feedback?.comment && (
        <Text size="xs" c="dimmed" className="stak-break">
          {feedback.comment}
        </Text>
      )}
      {mayRate && feedback?.rating === 'bad' && feedback.comment === null && (
        <form onSubmit={submit}>
          <Group gap={6} wrap="nowrap">
            <TextInput
              size="xs"
              aria-label="What was wrong with it?"
              placeholder="What was wrong with it?"
              maxLength={2_000}
              value={comment}
              onChange={event => setComment(event.currentTarget.value)}
            />
            <Button
              type="submit"
              size="compact-sm"
              variant="default"
              disabled={comment.trim() === ''}
              loading={rate.isPending}
            >
              Save
            </Button>
          </Group>
        </form>
      )}
      {userFeedback && (
        <Text size="xs" c="dimmed" className="stak-break">
          {`User: ${userFeedback.rating} answer. ${userFeedback.comment ?? ''}`}
        </Text>
      )}
    </Group>
  );
}
