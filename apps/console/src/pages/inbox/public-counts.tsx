import { Group, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Stat } from '../../components/display/stat.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { formatNumber } from '../../text/format.ts';
import { type InboxPath, publicCountsQuery } from './queries.ts';

// The number of live broadcasts, and of members.
export function PublicCounts({ inboxPath }: { inboxPath: InboxPath }) {
  const counts = useQuery(publicCountsQuery(inboxPath));
  return (
    <section aria-label="To everyone">
      <Loaded query={counts}>
        {({ published, members, categories }) => (
          <SimpleGrid cols={{ base: 2, md: 3 }} className="stak-stats">
            <Stat label="Members" value={formatNumber(members)} />
            <Stat label="Live messages to everyone" value={formatNumber(published)} />
            <Stat
              label="By category"
              value={
                <Group gap="md">
                  {Object.entries(categories).map(([category, count]) => (
                    <Text key={category} size="sm">
                      {category} {formatNumber(count)}
                    </Text>
                  ))}
                  {Object.keys(categories).length === 0 && (
                    <Text size="sm" c="dimmed">
                      None
                    </Text>
                  )}
                </Group>
              }
            />
          </SimpleGrid>
        )}
      </Loaded>
    </section>
  );
}
