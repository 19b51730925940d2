import { Alert, Button, Card, Group, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { ApiTypes, Connection } from '@stak/client';
import { useState } from 'react';
import { DataTable } from '../../components/display/data-table.tsx';
import { Diff } from '../../components/display/diff.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { useAction, useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { counted, formatAgo, formatNumber, formatTime } from '../../text/format.ts';
import { prettyOf } from '../../text/payload-text.ts';

type Rules = Pick<ApiTypes['webhooks.whatIf']['args']['body'], 'filters' | 'transform'>;
type Page = ApiTypes['webhooks.whatIf']['data'];
type Difference = Page['data'][number];
type Outcome = Difference['before'];
type Result = Outcome['result'];
type Answer = Pick<Page, 'events' | 'before' | 'after'> & { differences: Difference[]; rules: Rules };

const weekMs = 7 * 24 * 60 * 60_000;
const replayedTogether = 100; // events that a job takes by id
const results: readonly Result[] = ['sent', 'filtered', 'dropped', 'failed'];

const textOf = ({ result, body, bytes, reason, message }: Outcome): string => {
  if (body !== undefined) return prettyOf(Uint8Array.from(atob(body), char => char.charCodeAt(0)));
  if (result === 'sent') return `(a body of ${formatNumber(bytes ?? 0)} bytes)`;
  return reason === undefined ? `(${result})` : `(${result}: ${reason}: ${message})`;
};

type Props = {
  connection: Connection;
  rules: Rules | undefined; // undefined while their JSON is invalid
  onSave: (rules: Rules) => Promise<void>;
};

/** Runs the events of the last week through the rules of the form, beside those that are saved. */
export function RulesWhatIf({ connection, rules, onSave }: Props) {
  const { sourceId, connectionId } = connection;
  const [read, setRead] = useState(0);
  const [openId, setOpenId] = useState<string>();
  const run = useSubmit(async (tried: Rules): Promise<Answer> => {
    setRead(0);
    setOpenId(undefined);
    const zero = { sent: 0, filtered: 0, dropped: 0, failed: 0 };
    const answer: Answer = {
      events: 0,
      before: { ...zero },
      after: { ...zero },
      differences: [],
      rules: tried,
    };
    const from = new Date(Date.now() - weekMs).toISOString();
    for (let cursor: string | undefined; ; ) {
      const body = { ...tried, connectionId, from, cursor };
      const { data } = await client.webhooks.whatIf({ sourceId, body });
      answer.events += data.events;
      for (const result of results) {
        answer.before[result] += data.before[result];
        answer.after[result] += data.after[result];
      }
      answer.differences.push(...data.data);
      setRead(answer.events);
      if (data.next_cursor === null) return answer;
      cursor = data.next_cursor;
    }
  });
  const answer = run.data;
  const opened = answer?.differences.find(({ eventId }) => eventId === openId);
  return (
    <Card withBorder component="section" aria-label="What if">
      <Stack gap="sm">
        <Group justify="space-between">
          <Text size="sm">What would these rules have done with the events of the last week?</Text>
          <Button
            variant="default"
            disabled={rules === undefined}
            loading={run.isPending}
            onClick={() => rules && run.mutate(rules)}
          >
            Try on the last week
          </Button>
        </Group>
        {run.isPending && (
          <Text size="sm" c="dimmed" aria-live="polite">
            {counted(read, 'event')} so far
          </Text>
        )}
        {run.error && <Failure error={run.error} />}
        {answer && !run.isPending && (
          <>
            <DataTable
              label="Events by what becomes of them"
              rows={results.filter(result => answer.before[result] + answer.after[result] > 0)}
              keyOf={result => result}
              minWidth={300}
              empty="There was no event in the last week."
              columns={[
                { label: counted(answer.events, 'event'), show: result => result },
                { label: 'Now', show: result => formatNumber(answer.before[result]), isNumber: true },
                { label: 'Then', show: result => formatNumber(answer.after[result]), isNumber: true },
              ]}
            />
            <Differences differences={answer.differences} openId={openId} onOpen={setOpenId} />
            {opened && (
              <Diff label="Body: now and then" before={textOf(opened.before)} after={textOf(opened.after)} />
            )}
            <SaveAndReplay answer={answer} connection={connection} onSave={onSave} />
          </>
        )}
      </Stack>
    </Card>
  );
}

const shownMost = 50;

type DifferencesProps = {
  differences: readonly Difference[];
  openId: string | undefined;
  onOpen: (eventId: string) => void;
};

function Differences({ differences, openId, onOpen }: DifferencesProps) {
  if (differences.length === 0) return <Text size="sm">No event would be sent otherwise.</Text>;
  return (
    <>
      <Text size="sm" fw={600}>
        {counted(differences.length, 'event')} would be sent otherwise
        {differences.length > shownMost && `, of which these are the first ${shownMost}`}
      </Text>
      <DataTable
        label="Events that differ"
        rows={differences.slice(0, shownMost)}
        keyOf={({ eventId }) => eventId}
        isCurrent={({ eventId }) => eventId === openId}
        onRow={({ eventId }) => onOpen(eventId)}
        minWidth={360}
        empty=""
        columns={[
          {
            label: 'Event',
            show: ({ eventId, eventType }) => (
              <Button variant="subtle" size="compact-sm" onClick={() => onOpen(eventId)}>
                {eventType ?? eventId}
              </Button>
            ),
          },
          {
            label: 'Time',
            show: ({ receivedAt }) => <span title={formatTime(receivedAt)}>{formatAgo(receivedAt)}</span>,
          },
          { label: 'Now', show: ({ before }) => before.result },
          { label: 'Then', show: ({ after }) => after.result },
        ]}
      />
    </>
  );
}

function SaveAndReplay({ answer, connection, onSave }: { answer: Answer } & Omit<Props, 'rules'>) {
  const { sourceId, connectionId } = connection;
  const eventIds = answer.differences
    .filter(({ after }) => after.result === 'sent')
    .map(({ eventId }) => eventId);
  const replay = useAction(async () => {
    await onSave(answer.rules);
    for (let at = 0; at < eventIds.length; at += replayedTogether) {
      const body = { connectionIds: [connectionId], eventIds: eventIds.slice(at, at + replayedTogether) };
      await client.webhooks.createJob({ sourceId, body });
    }
    notifications.show({ message: `Delivering ${counted(eventIds.length, 'event')} again.` });
  });
  if (eventIds.length === 0) return null;
  return (
    <Alert title="Nothing was sent">
      <Group justify="space-between">
        <Text size="sm">The rules are not saved yet.</Text>
        <Button loading={replay.isPending} disabled={replay.isSuccess} onClick={() => replay.mutate()}>
          Save them, and replay {counted(eventIds.length, 'event')}
        </Button>
      </Group>
    </Alert>
  );
}
