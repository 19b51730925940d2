import { Button, Group, Text, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { complain } from '../../components/feedback/complaint.ts';
import { submitHandler } from '../../components/submit-handler.ts';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { formatDay } from '../../text/days.ts';
import { describeRule, parseQuickTask, type QuickTask } from './quick-task.ts';
import { taskMutationKey, useTaskActions } from './task-queries.ts';
import { useToday } from './today.ts';

const loadReader = async () => (await import('./date-words.ts')).readDate;

const route = getRouteApi('/inside/tasks');

export function QuickAdd() {
  const field = useRef<HTMLInputElement>(null);
  const isAskedFor = route.useSearch({ select: ({ create }) => create === true });
  const navigate = route.useNavigate();
  useEffect(() => {
    if (!isAskedFor) return;
    field.current?.focus();
    void navigate({ search: ({ create: _, ...rest }) => rest, replace: true });
  }, [isAskedFor, navigate]);
  const { showAnswer } = useTaskActions();
  const today = useToday();
  const [text, setText] = useState('');
  const reader = useQuery({
    queryKey: ['date-words'],
    queryFn: async () => ({ readDate: await loadReader() }),
    enabled: text !== '',
    staleTime: Number.POSITIVE_INFINITY,
  });
  const now = () => new Date(`${today}T${new Date().toTimeString().slice(0, 5)}`);
  const add = useSubmit(
    async (line: string) => client.tasks.create({ body: parseQuickTask(line, now(), await loadReader()) }),
    {
      mutationKey: taskMutationKey,
      onSuccess: ({ data }) => showAnswer('add', data),
      // Puts a refused line back to be corrected, unless the next one is being typed.
      onError: (error, line) => {
        setText(current => current || line);
        complain(error);
      },
    },
  );
  const task = parseQuickTask(text, now(), reader.data?.readDate);
  const submit = submitHandler(() => {
    if (task.title === '') return;
    add.mutate(text);
    setText('');
  });
  const details = describe(task);
  return (
    <form onSubmit={submit}>
      <Group align="start" gap="xs" wrap="nowrap">
        <TextInput
          ref={field}
          aria-label="New task"
          placeholder="Call Ann fri 5pm !high #sales"
          data-create
          description={
            details === '' ? (
              'Write a date, a time or “every monday”, and !priority, #category or @label.'
            ) : (
              <>
                <Text span inherit fw={600}>
                  {task.title || 'A title is missing'}
                </Text>{' '}
                · {details}
              </>
            )
          }
          inputWrapperOrder={['label', 'input', 'description']}
          value={text}
          onChange={event => setText(event.currentTarget.value)}
          flex={1}
        />
        <Button type="submit" leftSection={<IconPlus size={16} />}>
          Add
        </Button>
      </Group>
    </form>
  );
}

const dayFormat = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const;

const describe = ({ due_date, recurrence, reminder, priority, category, labels = [] }: QuickTask): string =>
  [
    due_date && `due ${formatDay(due_date, dayFormat)}`,
    reminder && `reminder at ${reminder.time}`,
    recurrence && describeRule(recurrence),
    priority && `${priority} priority`,
    category && `in ${category}`,
    ...labels.map(label => `@${label}`),
  ]
    .filter(Boolean)
    .join(' · ');
