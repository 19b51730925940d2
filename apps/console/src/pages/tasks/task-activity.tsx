import { Button, Group, Stack, Text, Timeline, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ApiTypes } from '@stak/client';
import { isWithoutLake, LakeFailure } from '../../components/feedback/lake-failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { useAnswer } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { formatAgo, formatTime } from '../../text/format.ts';
import { tellEntry } from './activity-text.ts';

export type ActivityEntry = ApiTypes['lake.history']['data']['data'][number];

/** The history of a task, from the changes in the lake, which are seconds behind. */
export function TaskActivity({ task_id }: { task_id: string }) {
  const [isShown, { open: show }] = useDisclosure(false); // expensive for the lake, so only on request
  const history = useAnswer(
    ['task-activity', task_id],
    () => client.lake.history({ table: 'tasks', id: task_id }),
    { enabled: isShown, retry: false },
  );
  if (!isShown)
    return (
      <Group>
        <Button variant="default" size="xs" onClick={show}>
          Show activity
        </Button>
      </Group>
    );
  return (
    <section aria-label="Activity">
      <Title order={3} size="h5" mb="xs">
        Activity
      </Title>
      {isWithoutLake(history.error) && <LakeFailure error={history.error} />}
      {!isWithoutLake(history.error) && (
        <Loaded query={history}>
          {({ data: entries, since }) => {
            const told = entries
              .map((entry, index) => ({
                at: entry.at,
                texts: tellEntry(entry, index === entries.length - 1),
              }))
              .filter(({ texts }) => texts.length > 0);
            if (told.length === 0)
              return (
                <Text size="sm" c="dimmed">
                  Nothing since {formatTime(since)}. What was just changed shows up in a few seconds.
                </Text>
              );
            return (
              <Timeline bulletSize={10} lineWidth={2}>
                {told.map(({ at, texts }) => (
                  <Timeline.Item key={`${at} ${texts.join()}`}>
                    <Stack gap={0}>
                      {texts.map(text => (
                        <Text key={text} size="sm" className="stak-break">
                          {text}
                        </Text>
                      ))}
                      <Text size="xs" c="dimmed" component="time" dateTime={at} title={formatTime(at)}>
                        {formatAgo(at)}
                      </Text>
                    </Stack>
                  </Timeline.Item>
                ))}
              </Timeline>
            );
          }}
        </Loaded>
      )}
    </section>
  );
}
