import { Button, Group, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { client } from '../../api.ts';
import { complain } from '../../complaint.ts';
import { parseQuickTask, type QuickTask } from './quick-task.ts';
import { useTaskActions } from './task-queries.ts';
import { useToday } from './today.ts';

export function QuickAdd() {
  const { refresh } = useTaskActions();
  const today = useToday();
  const [text, setText] = useState('');
  const parse = (line: string) => parseQuickTask(line, new Date(`${today}T12:00`));
  const add = useMutation({
    mutationFn: (line: string) => client.tasks.create({ body: parse(line) }),
    onSuccess: refresh,
    // What was refused can be mended, unless the next one is being typed already.
    onError: (error, line) => {
      setText(now => now || line);
      complain(error);
    },
  });
  const task = parse(text);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (task.title === '') return;
    add.mutate(text);
    setText('');
  };
  return (
    <form onSubmit={submit}>
      <Group align="start" gap="xs" wrap="nowrap">
        <TextInput
          aria-label="New task"
          placeholder="Call Ann tomorrow !high #sales @phone"
          description={describe(task) || 'A day, !priority, #category and @label are understood'}
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

const describe = ({ due_date, recurrence, priority, category, labels = [] }: QuickTask): string =>
  [
    due_date && `due ${due_date}`,
    recurrence?.replace('FREQ=', '').toLowerCase(),
    priority && `${priority} priority`,
    category && `in ${category}`,
    ...labels.map(label => `@${label}`),
  ]
    .filter(Boolean)
    .join(' · ');
