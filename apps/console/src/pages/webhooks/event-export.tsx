import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { csvLine } from '@stak/kit/csv';
import { IconDownload } from '@tabler/icons-react';
import { saveFile } from '../../components/fields/saved-file.ts';
import { useAction } from '../../queries/actions.ts';
import { formatNumber } from '../../text/format.ts';
import type { EventsSearch } from './address.ts';
import { readPage } from './event-query.ts';
import type { EventRow } from './queries.ts';

const exportedMost = 5_000; // rows of a file that is assembled in the browser

/** Saves the filtered events, up to the limit of an export. */
export function EventExport({ sourceId, search }: { sourceId: string | undefined; search: EventsSearch }) {
  const save = useAction(
    async () => {
      const rows: EventRow[] = [];
      let isCut = true;
      for (let cursor: string | undefined; rows.length < exportedMost; ) {
        const page = await readPage(sourceId, search, cursor, 100);
        rows.push(...page.data);
        isCut = page.next_cursor !== null;
        if (page.next_cursor === null) break;
        cursor = page.next_cursor;
      }
      const columns = ['received_at', 'event_id', 'source_id', 'type', 'status', 'attempts', 'bytes'];
      const cells = rows.map(row => [
        new Date(row.receivedAt).toISOString(),
        row.eventId,
        row.sourceId,
        row.eventType,
        row.status,
        row.attempts,
        row.size,
      ]);
      return { text: [columns, ...cells].map(csvLine).join(''), count: rows.length, isCut };
    },
    {
      onSuccess: ({ text, count, isCut }) => {
        saveFile('events.csv', text);
        if (isCut)
          notifications.show({
            color: 'yellow',
            title: `The file holds the newest ${formatNumber(count)} events`,
            message: 'There are more. Narrow the time to export the others.',
          });
      },
    },
  );
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} />}
      loading={save.isPending}
      onClick={() => save.mutate()}
    >
      Export CSV
    </Button>
  );
}
