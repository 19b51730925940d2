import { Alert, Button, Card, Loader, Stack, Text } from '@mantine/core';
import { DataTable } from '../../components/display/data-table.tsx';
import { Heading } from '../../components/display/section.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { Confirm } from '../../components/fields/confirm.tsx';
import { useAction } from '../../queries/actions.ts';
import { useAnswer, useRows } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { counted, formatNumber, formatTime } from '../../text/format.ts';
import { categoriesKey, type InboxPath, inboxesKey, publicCountsQuery, sendsKey } from './queries.ts';

const refreshMs = 2_000; // while something is being removed

// The categories that have messages. Deleting one deletes its messages.
export function Categories({ inboxPath }: { inboxPath: InboxPath }) {
  const categories = useRows(categoriesKey(inboxPath), () => client.inbox.listCategories(inboxPath), {
    refetchInterval: query => (query.state.data?.some(one => one.deleting) ? refreshMs : false),
  });
  const remove = useAction(
    (category: string) => client.inbox.deleteCategory({ ...inboxPath, category, messages: 'delete' }),
    { refreshes: [categoriesKey(inboxPath), sendsKey(inboxPath), publicCountsQuery(inboxPath).queryKey] },
  );
  return (
    <Card withBorder component="section" aria-label="Categories">
      <Heading mb="sm">Categories</Heading>
      <Loaded query={categories}>
        {all => (
          <DataTable
            label="Categories"
            rows={all}
            keyOf={row => row.category}
            empty="No message has a category yet. Sending one with a category creates it."
            minWidth={320}
            columns={[
              { label: 'Name', show: row => row.category },
              {
                label: 'Messages until',
                show: row => (row.until === null || row.deleting ? '–' : formatTime(row.until * 1000)),
              },
              {
                label: '',
                show: ({ category, deleting }) =>
                  deleting ? (
                    <CategoryProgress inboxPath={inboxPath} category={category} />
                  ) : (
                    <Permitted to="inbox.deleteCategory">
                      <Confirm
                        title={`Delete ${category}?`}
                        text="All its messages disappear from every inbox immediately, and their counts with them. This cannot be undone. Until they are removed, which takes at least half a minute, nothing can be sent in this category."
                        button="Delete category"
                        keep="Keep it"
                        onConfirm={() => remove.mutate(category)}
                      >
                        {ask => (
                          <Button
                            size="compact-sm"
                            variant="default"
                            aria-label={`Delete ${category}`}
                            onClick={ask}
                          >
                            Delete
                          </Button>
                        )}
                      </Confirm>
                    </Permitted>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}

function CategoryProgress({ inboxPath, category }: { inboxPath: InboxPath; category: string }) {
  const erasure = useAnswer(
    [...categoriesKey(inboxPath), category],
    () => client.inbox.readCategoryErasure({ ...inboxPath, category }),
    { refetchInterval: refreshMs },
  );
  return (
    <Text size="sm" role="status">
      Deleting: {formatNumber(erasure.data?.erased ?? 0)} removed
    </Text>
  );
}

export function DeleteInbox({
  inboxPath,
  title,
  onDeleted,
}: {
  inboxPath: InboxPath;
  title: string;
  onDeleted: () => void;
}) {
  const remove = useAction(() => client.inbox.deleteInbox(inboxPath), {
    onSuccess: onDeleted,
    refreshes: [inboxesKey(inboxPath.tenant_id)],
  });
  return (
    <Card withBorder component="section" aria-label="Delete this inbox">
      <Stack gap="sm" align="start">
        <Heading>Delete this inbox</Heading>
        <Text size="sm">This deletes all of it: messages, what users did with them, and its settings.</Text>
        <Confirm
          title={`Delete ${title}?`}
          text="It disappears immediately for all its users, with everything in it. This cannot be undone."
          button="Delete inbox"
          keep="Keep it"
          onConfirm={() => remove.mutate()}
        >
          {ask => (
            <Button color="red" variant="light" loading={remove.isPending} onClick={ask}>
              Delete {title}
            </Button>
          )}
        </Confirm>
      </Stack>
    </Card>
  );
}

// The progress of deleting an inbox.
export function InboxProgress({ inboxPath, onClose }: { inboxPath: InboxPath; onClose: () => void }) {
  const erasure = useAnswer(
    ['erasure', inboxPath.tenant_id, inboxPath.inbox_key],
    () => client.inbox.readErasure(inboxPath),
    { refetchInterval: query => (query.state.data?.status === 'erased' ? false : refreshMs), retry: false },
  );
  if (!erasure.data) return null;
  const { status, erased } = erasure.data;
  const isDone = status === 'erased';
  return (
    <Alert
      role="status"
      color={isDone ? 'teal' : 'blue'}
      icon={isDone ? undefined : <Loader size="xs" />}
      title={isDone ? `${inboxPath.inbox_key} is deleted` : `${inboxPath.inbox_key} is being deleted`}
      withCloseButton
      closeButtonLabel="Close"
      onClose={onClose}
    >
      {counted(erased, 'item')} removed.{!isDone && ' Its name is free again when all of them are.'}
    </Alert>
  );
}
