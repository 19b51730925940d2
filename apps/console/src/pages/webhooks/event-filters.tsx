import { Group, Menu, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { SavedMenu } from '../../components/fields/saved-menu.tsx';
import { useAddressText } from '../../text/address-text.ts';
import { choicesOf } from '../../text/capital.ts';
import {
  type EventStatus,
  type EventsSearch,
  eventStatuses,
  readEventsSearch,
  type Span,
} from './address.ts';
import { useConnectionsOf } from './queries.ts';
import { SourceSelect } from './source-select.tsx';

const spanNames = [
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: 'custom', label: 'From … to …' },
];

type Props = {
  sourceId: string | undefined; // none for a list of all sources
  search: EventsSearch;
  change: (part: Partial<EventsSearch>) => void;
};

/** All filters of a list of events. They are kept in the address. */
export function EventFilters({ sourceId, search, change }: Props) {
  const { status, connection, last, from, to } = search;
  const [q, setQ] = useAddressText(search.q ?? '', next => change({ q: next || undefined }));
  const [type, setType] = useAddressText(search.type ?? '', next => change({ type: next || undefined }));
  const [where, setWhere] = useAddressText(search.where ?? '', next => change({ where: next || undefined }));
  const ofSource = sourceId ?? search.source;
  const connections = useConnectionsOf(ofSource === undefined ? [] : [ofSource]).data;
  const [isCustom, setIsCustom] = useState(from !== undefined || to !== undefined);
  const span = last ?? (isCustom ? 'custom' : null);
  const pickSpan = (value: string | null) => {
    setIsCustom(value === 'custom');
    change({
      last: value === null || value === 'custom' ? undefined : (value as Span),
      ...(value !== 'custom' && { from: undefined, to: undefined }),
    });
  };
  return (
    <Group align="end" gap="xs" role="search" className="stak-filters">
      <TextInput
        label="Search"
        placeholder="In headers or body"
        data-search
        flex="1 1 12rem"
        value={q}
        onChange={event => setQ(event.currentTarget.value)}
      />
      {sourceId === undefined && (
        <SourceSelect value={search.source} onChange={source => change({ source, connection: undefined })} />
      )}
      <Select
        label="Status"
        placeholder="Any"
        clearable
        clearButtonProps={{ 'aria-label': 'Any status' }}
        data={choicesOf(eventStatuses)}
        value={status ?? null}
        onChange={value => change({ status: (value ?? undefined) as EventStatus | undefined })}
      />
      {ofSource !== undefined && (
        <Select
          label="Connection"
          placeholder="Any"
          clearable
          clearButtonProps={{ 'aria-label': 'Any connection' }}
          data={connections.map(connection => ({ value: connection.connectionId, label: connection.name }))}
          value={connection ?? null}
          onChange={value => change({ connection: value ?? undefined })}
        />
      )}
      <TextInput
        label="Type"
        placeholder="invoice.paid"
        value={type}
        onChange={event => setType(event.currentTarget.value)}
      />
      <TextInput
        label="Value"
        placeholder="body.amount = 42"
        flex="1 1 12rem"
        value={where}
        error={isCondition(where) ? undefined : 'Write it like body.amount = 42'}
        onChange={event => setWhere(event.currentTarget.value)}
      />
      <Select
        label="Time"
        placeholder="Any"
        clearable
        clearButtonProps={{ 'aria-label': 'Any time' }}
        data={spanNames}
        value={span}
        onChange={pickSpan}
      />
      {span === 'custom' && (
        <>
          <TextInput
            label="From"
            type="datetime-local"
            value={from ?? ''}
            onChange={event => change({ from: event.currentTarget.value || undefined })}
          />
          <TextInput
            label="To"
            type="datetime-local"
            value={to ?? ''}
            onChange={event => change({ to: event.currentTarget.value || undefined })}
          />
        </>
      )}
    </Group>
  );
}

/** Whether the server can parse it. An empty text is no condition. */
export const isCondition = (text: string): boolean =>
  text.trim() === '' || /^\s*(body|headers)\.[^=\s.][^=]*=/.test(text);

const filterNames = ['source', 'status', 'connection', 'type', 'where', 'q', 'last', 'from', 'to'] as const;
type Filters = Pick<EventsSearch, (typeof filterNames)[number]>;

export const noFilters = Object.fromEntries(filterNames.map(name => [name, undefined])) as Filters;
const filtersOf = (search: EventsSearch): Filters =>
  Object.fromEntries(filterNames.flatMap(name => (search[name] === undefined ? [] : [[name, search[name]]])));

export const isFiltered = (search: EventsSearch): boolean => Object.keys(filtersOf(search)).length > 0;

/** Saved filters, and a button to clear the current ones. */
export const SavedViews = ({ search, change }: Omit<Props, 'sourceId'>) => (
  <SavedMenu
    kind="events"
    what="view"
    label="Views"
    saveLabel="Save these filters"
    text={isFiltered(search) ? new URLSearchParams(filtersOf(search)).toString() : undefined}
    onPick={text =>
      change({ ...noFilters, ...filtersOf(readEventsSearch(Object.fromEntries(new URLSearchParams(text)))) })
    }
  >
    <Menu.Item disabled={!isFiltered(search)} onClick={() => change(noFilters)}>
      Clear all filters
    </Menu.Item>
  </SavedMenu>
);
