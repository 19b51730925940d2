import { Button, Card, Group, Stack, Text } from '@mantine/core';
import { DataTable } from '../../components/display/data-table.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { Confirm } from '../../components/fields/confirm.tsx';
import { useAction } from '../../queries/actions.ts';
import { useRows } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { formatAgo } from '../../text/format.ts';
import { useTaskActions } from './task-queries.ts';

export default function TaskTrash() {
  const { refresh, restore } = useTaskActions();
  const trash = useRows(['tasks', 'trash'], () => client.tasks.listTrash({ limit: 100 }));
  const empty = useAction(
    async () => {
      while ((await client.tasks.emptyTrash()).data.has_more);
    },
    { onSettled: refresh },
  );
  return (
    <Loaded query={trash}>
      {rows => (
        <Stack gap="sm">
          <Group justify="space-between">
            <Text c="dimmed" size="sm">
              Tasks here are deleted after 30 days.
            </Text>
            <Permitted to="tasks.emptyTrash">
              <Confirm
                title="Empty the trash?"
                text="Everything in it is deleted for good."
                button="Empty the trash"
                onConfirm={() => empty.mutate()}
              >
                {ask => (
                  <Button
                    variant="default"
                    disabled={rows.length === 0}
                    loading={empty.isPending}
                    onClick={ask}
                  >
                    Empty the trash
                  </Button>
                )}
              </Confirm>
            </Permitted>
          </Group>
          <Card withBorder>
            <DataTable
              label="Trash"
              rows={rows}
              keyOf={row => row.task_id}
              empty="The trash is empty."
              columns={[
                { label: 'Task', show: row => row.title },
                { label: 'Deleted', show: row => formatAgo(row.deleted_at * 1000) },
                {
                  label: '',
                  show: row => (
                    <Permitted to="tasks.restore">
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={`Restore ${row.title}`}
                        onClick={() => restore(row.task_id)}
                      >
                        Restore
                      </Button>
                    </Permitted>
                  ),
                },
              ]}
            />
          </Card>
        </Stack>
      )}
    </Loaded>
  );
}
