import { Checkbox, Text } from '@mantine/core';
import type { Ref } from 'react';
import { LongTable, type LongTableHandle } from '../../components/display/long-table.tsx';
import type { Column } from '../../components/display/table-frame.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { formatAgo, formatDuration, formatTime } from '../../text/format.ts';
import { unsettled } from './event-pages.ts';
import { EventStatusBadge } from './event-status.tsx';
import { type EventRow, useSources } from './queries.ts';

/** The events that were chosen with their checkboxes. */
export type Chosen = {
  ids: ReadonlySet<string>;
  toggle: (eventId: string) => void;
  toggleAll: () => void;
};

type Props = {
  rows: readonly EventRow[];
  isNarrow: boolean;
  hasSource: boolean;
  openId: string | undefined; // of the event beside the table
  markedId: string | undefined; // of the event that the keys act on
  chosen: Chosen | undefined; // undefined if nothing can be done with them
  onOpen: (row: EventRow) => void;
  opensBeside: boolean; // instead of on a page of its own
  onEnd: (() => void) | undefined;
  handle: Ref<LongTableHandle>;
};

// Only of attempted deliveries: the time until a filter rejected an event means nothing.
const durationOf = ({ status, attempts, receivedAt, deliveredAt, processedAt }: EventRow): string => {
  if (attempts === 0) return '–';
  const endedAt = deliveredAt ?? (unsettled.has(status) ? undefined : processedAt);
  return endedAt === undefined ? '–' : formatDuration(endedAt - receivedAt);
};

export function EventTable({ rows, openId, markedId, chosen, onOpen, opensBeside, ...props }: Props) {
  const { isNarrow, hasSource, onEnd, handle } = props;
  const { data: sources = [] } = useSources();
  const nameOf = (sourceId: string) => sources.find(source => source.sourceId === sourceId)?.name ?? sourceId;
  const choice: Column<EventRow>[] = chosen === undefined ? [] : [choiceColumn(rows, chosen)];
  const link = (row: EventRow) => (
    <TextLink
      to="/webhooks/$source/events/$event"
      params={{ source: row.sourceId, event: row.eventId }}
      className="stak-mono stak-nowrap"
      data-event={row.eventId}
      aria-current={row.eventId === openId ? 'true' : undefined}
      fw={row.eventId === openId ? 700 : undefined}
      onClick={click => {
        // Opening in a new tab uses the event's own page.
        if (!opensBeside || click.ctrlKey || click.metaKey || click.shiftKey) return;
        click.preventDefault();
        onOpen(row);
      }}
    >
      {row.eventId}
    </TextLink>
  );
  const columns: Record<string, Column<EventRow>> = {
    status: { label: 'Status', show: row => <EventStatusBadge event={row} /> },
    time: {
      label: 'Time',
      show: row => (
        <span className="stak-nowrap" title={formatTime(row.receivedAt)}>
          {formatAgo(row.receivedAt)}
        </span>
      ),
    },
    source: { label: 'Source', show: row => nameOf(row.sourceId) },
    type: {
      label: 'Type',
      show: row => <span className="stak-mono">{row.eventType ?? '–'}</span>,
      isTitle: true,
    },
    id: { label: 'Event', show: link },
    // Beside an open event and on a phone, only one column of names fits.
    named: {
      label: 'Event',
      show: row => (
        <>
          <Text size="sm" fw={600} truncate>
            {row.eventType ?? 'No type'}
          </Text>
          {link(row)}
        </>
      ),
      isTitle: true,
    },
    attempts: { label: 'Attempts', show: row => row.attempts, isNumber: true },
    duration: { label: 'Duration', show: durationOf, isNumber: true },
  };
  const names = isNarrow
    ? ['status', 'named', 'time']
    : ['status', 'type', ...(hasSource ? ['source'] : []), 'id', 'attempts', 'duration', 'time'];
  return (
    <LongTable
      label="Events"
      rows={rows}
      keyOf={row => row.eventId}
      columns={[...choice, ...names.map(name => columns[name]!)]}
      isCurrent={row => row.eventId === openId}
      isMarked={row => row.eventId === markedId}
      onRow={onOpen}
      minWidth={isNarrow ? 300 : 760}
      onEnd={onEnd}
      handle={handle}
    />
  );
}

const choiceColumn = (rows: readonly EventRow[], { ids, toggle, toggleAll }: Chosen): Column<EventRow> => ({
  label: 'Choose',
  head: (
    <Checkbox
      size="xs"
      aria-label="Choose all events of the list"
      checked={rows.length > 0 && ids.size === rows.length}
      indeterminate={ids.size > 0 && ids.size < rows.length}
      onChange={toggleAll}
    />
  ),
  show: row => (
    <Checkbox
      size="xs"
      aria-label={`Choose ${row.eventId}`}
      checked={ids.has(row.eventId)}
      onChange={() => toggle(row.eventId)}
    />
  ),
});
