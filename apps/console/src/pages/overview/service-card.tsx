import { Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Stat } from '../../components/display/stat.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';

type Figure = { label: string; value: string; isBad?: boolean };

type Props = {
  title: string;
  to: '/webhooks' | '/inbox' | '/tasks' | '/agents';
  icon: TablerIcon;
  figures: readonly Figure[];
  isPage?: boolean | undefined; // the page already shows its name
  chartTitle?: string; // on its page
  children: ReactNode; // a chart, or why there is none
};

export type ServiceDays = { days: readonly string[]; isPage?: boolean };

// One of the four services: a link, three numbers and its last days.
export function ServiceCard({ title, to, icon: Icon, figures, isPage = false, chartTitle, children }: Props) {
  if (isPage)
    return (
      <Stack gap="sm" component="section" aria-label={title}>
        <SimpleGrid cols={{ base: 2, md: figures.length }} className="stak-stats">
          {figures.map(({ label, value }) => (
            <Stat key={label} label={label} value={value} />
          ))}
        </SimpleGrid>
        <Card withBorder>
          <Title order={3} size="h5" mb="sm">
            {chartTitle}
          </Title>
          {children}
        </Card>
      </Stack>
    );
  return (
    <Card withBorder component="section" aria-label={title}>
      <Group gap="xs" mb="sm">
        <Icon size={18} stroke={1.6} aria-hidden />
        <Title order={3} size="h5">
          <TextLink to={to} inherit c="inherit">
            {title}
          </TextLink>
        </Title>
      </Group>
      <Group gap="xl" mb="sm" align="start">
        {figures.map(({ label, value, isBad }) => (
          <Stack key={label} gap={0}>
            <Text size="xs" c="dimmed">
              {label}
            </Text>
            <Text fw={600} size="lg" className="stak-figures" c={isBad ? 'red' : undefined}>
              {value}
            </Text>
          </Stack>
        ))}
      </Group>
      {children}
    </Card>
  );
}

export const chartHeight = 170;

export function NoChart({ children }: { children: ReactNode }) {
  return (
    <Stack h={chartHeight} justify="center" align="center" gap="xs">
      <Text c="dimmed" size="sm" ta="center">
        {children}
      </Text>
    </Stack>
  );
}
