import {
  Autocomplete,
  Card,
  Group,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Heading } from '../../components/display/section.tsx';
import { fieldComplaints } from '../../components/feedback/complaint.ts';
import { Failure } from '../../components/feedback/failure.tsx';
import { PermittedFields } from '../../components/feedback/permitted.tsx';
import { ConfirmDialog, type Question } from '../../components/fields/confirm.tsx';
import { SavedMenu } from '../../components/fields/saved-menu.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../components/fields/submit-row.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { useUsers } from '../../queries/tenants.ts';
import { formatNumber, formatTime, nameZone } from '../../text/format.ts';
import { type Draft, draftOfTemplate, emptyDraft, sendBody, templateOf } from './draft.ts';
import { MessagePreview } from './message-preview.tsx';
import {
  type Inbox,
  type InboxPath,
  nameAudience,
  nameMembers,
  publicCountsQuery,
  sendsKey,
} from './queries.ts';

export function Compose({ inboxPath, inbox }: { inboxPath: InboxPath; inbox: Inbox }) {
  const categories = Object.keys(inbox.ttl ?? {}).filter(name => name !== 'default');
  const [draft, setDraft] = useState(emptyDraft);
  const edit = (part: Partial<Draft>) => setDraft(old => ({ ...old, ...part }));
  const users = useUsers(inboxPath.tenant_id);
  const queries = useQueryClient();
  const send = useSubmit(
    async () => {
      const body = sendBody(draft);
      return draft.audience === 'everyone'
        ? client.inbox.broadcast({ ...inboxPath, body })
        : client.inbox.publish({ ...inboxPath, body: { ...body, uids: draft.uids } });
    },
    {
      onSuccess: async ({ data }) => {
        const whom = nameAudience(data).toLowerCase();
        const message = data.send_at
          ? `Will be sent at ${formatTime(data.send_at * 1000)}.`
          : `Sent to ${whom}.`;
        notifications.show({ message });
        // Recipients and kind stay, because the next message often has the same.
        edit({ title: '', body: '', link: '', sendAt: '' });
        await queries.invalidateQueries({ queryKey: sendsKey(inboxPath) });
      },
    },
  );
  const isToEveryone = draft.audience === 'everyone';
  const members = useQuery({ ...publicCountsQuery(inboxPath), enabled: isToEveryone }).data?.members;
  const [isConfirming, { open: ask, close }] = useDisclosure(false);
  const complaints = fieldComplaints(send.error);
  const submit = submitHandler(() => {
    if (isToEveryone) ask();
    else send.mutate();
  });

  return (
    <Card withBorder component="section" aria-label="Compose">
      {/* Outside the form: the name of a template is asked for in a form of its own. */}
      <Group justify="space-between" mb="sm">
        <Heading>Compose</Heading>
        <SavedMenu
          kind="messages"
          what="template"
          label="Templates"
          saveLabel="Save as a template"
          text={draft.title.trim() === '' ? undefined : templateOf(draft)}
          onPick={text => edit(draftOfTemplate(text))}
        />
      </Group>
      <form onSubmit={submit}>
        <PermittedFields to="inbox.publish">
          <Stack gap="sm">
            <SegmentedControl
              aria-label="To"
              data={[
                { value: 'users', label: 'Some users' },
                { value: 'everyone', label: 'Everyone' },
              ]}
              value={draft.audience}
              onChange={value => edit({ audience: value as Draft['audience'] })}
            />
            {!isToEveryone ? (
              <TagsInput
                label="Users"
                error={complaints.uids}
                description="Your users’ ids. Press Enter after each."
                placeholder={draft.uids.length === 0 ? 'ann' : undefined}
                data={users.data?.map(one => one.user_id) ?? []}
                value={draft.uids}
                onChange={uids => edit({ uids })}
                acceptValueOnBlur
                clearable
                clearButtonProps={{ 'aria-label': 'Remove all users' }}
              />
            ) : (
              <Text size="sm" c="dimmed">
                {members !== undefined && (
                  <Text span inherit fw={600} c="var(--mantine-color-text)">
                    {members === 0 ? 'Nobody has joined this inbox yet' : nameMembers(members)}.{' '}
                  </Text>
                )}
                {tellLateJoiners(inbox)}
              </Text>
            )}
            <TextInput
              label="Title"
              required
              maxLength={500}
              value={draft.title}
              onChange={event => edit({ title: event.currentTarget.value })}
            />
            <Textarea
              label="Text"
              autosize
              minRows={3}
              maxRows={12}
              value={draft.body}
              onChange={event => edit({ body: event.currentTarget.value })}
            />
            {inbox.schema !== undefined && (
              <Switch
                label="The text is JSON"
                description="This inbox checks message bodies against a schema."
                checked={draft.isJson}
                onChange={event => edit({ isJson: event.currentTarget.checked })}
              />
            )}
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
              <Autocomplete
                label="Category"
                error={complaints.taxonomy}
                placeholder="None"
                data={categories}
                value={draft.category}
                onChange={category => edit({ category })}
              />
              <TextInput
                label="Link"
                error={complaints.message}
                type="url"
                placeholder="https://"
                value={draft.link}
                onChange={event => edit({ link: event.currentTarget.value })}
              />
              <TextInput
                label="Expires after"
                error={complaints.ttl}
                placeholder="As in the settings"
                description="30d, 12h or 300m"
                pattern="[1-9][0-9]*[dhms]"
                value={draft.ttl}
                onChange={event => edit({ ttl: event.currentTarget.value })}
              />
              <TextInput
                label="Send later"
                error={complaints.send_at}
                type="datetime-local"
                description={`Empty: now. Your time zone: ${nameZone(draft.sendAt || undefined)}`}
                value={draft.sendAt}
                onChange={event => edit({ sendAt: event.currentTarget.value })}
              />
            </SimpleGrid>
            <MessagePreview draft={draft} inboxTitle={inbox.title || inbox.inbox_key} />
            {send.error && <Failure error={send.error} />}
            <SubmitRow isBusy={send.isPending} disabled={!isToEveryone && draft.uids.length === 0}>
              {draft.sendAt ? 'Schedule' : 'Send'}
            </SubmitRow>
          </Stack>
        </PermittedFields>
      </form>
      <ConfirmDialog
        {...questionOf(draft, inbox, members)}
        isOpen={isConfirming}
        onConfirm={() => send.mutate()}
        onClose={close}
      />
    </Card>
  );
}

// Only members are counted.
function tellLateJoiners({ late_joiners = 'all' }: Inbox): string {
  if (late_joiners === 'all') return 'Users who join later get it too.';
  if (late_joiners === 'none') return 'Users who join later do not get it.';
  const last = formatNumber(late_joiners.last);
  return `Users who join later get the last ${last} of the messages to everyone.`;
}

function questionOf(draft: Draft, inbox: Inbox, members: number | undefined): Question {
  const whom = members ? nameMembers(members) : 'everyone';
  const { title, sendAt } = draft;
  return {
    title: `${sendAt ? 'Schedule for' : 'Send to'} ${whom}?`,
    text: (
      <>
        <Text fw={600}>{title}</Text>
        {sendAt && <Text size="sm">{`At ${formatTime(sendAt)}, ${nameZone(sendAt)}.`}</Text>}
        {members === 0 && 'Nobody has joined this inbox yet. '}
        {tellLateJoiners(inbox)}
      </>
    ),
    button: `${sendAt ? 'Schedule for' : 'Send to'} ${whom}`,
    color: 'teal',
  };
}
