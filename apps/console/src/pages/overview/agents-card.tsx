import { Skeleton } from '@mantine/core';
import { IconMessageChatbot } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { LateBars } from '../../components/display/late-charts.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { client } from '../../queries/api.ts';
import { formatNumber } from '../../text/format.ts';
import { formatCost } from '../agents/cost.ts';
import { chartHeight, NoChart, ServiceCard, type ServiceDays } from './service-card.tsx';

const tenantsCounted = 20; // one request each; the Agents page shows the others

type Usage = { messages: number; tokens: number; cost: number; isPart: boolean; byDay: Map<string, number> };

async function sumUsage(from: string): Promise<Usage> {
  const { data: tenants } = await client.tenants.list({ limit: tenantsCounted });
  const open = tenants.data.filter(one => one.status === 'active');
  const all = await Promise.all(
    open.map(async ({ tenant_id }) => (await client.agents.getUsage({ tenant_id, from })).data),
  );
  const sum: Usage = {
    messages: 0,
    tokens: 0,
    cost: 0,
    isPart: tenants.next_cursor !== null,
    byDay: new Map(),
  };
  for (const { total, days } of all) {
    sum.messages += total.messages;
    sum.tokens += total.input_tokens + total.output_tokens;
    sum.cost += total.cost_usd;
    for (const { date, messages } of days) sum.byDay.set(date, (sum.byDay.get(date) ?? 0) + messages);
  }
  return sum;
}

export function AgentsCard({ days, isPage }: ServiceDays) {
  const { data, error, refetch } = useQuery({
    queryKey: ['agent-usage', 'overview', days[0]],
    queryFn: () => sumUsage(days[0]!),
    placeholderData: keepPreviousData,
  });
  const more = data?.isPart ? '+' : '';
  return (
    <ServiceCard
      title="Agents"
      isPage={isPage}
      chartTitle="Messages by day"
      to="/agents"
      icon={IconMessageChatbot}
      figures={[
        { label: 'Messages', value: data ? formatNumber(data.messages) + more : '…' },
        { label: 'Tokens', value: data ? formatNumber(data.tokens) + more : '…' },
        { label: 'Cost', value: data ? formatCost(data.cost) + more : '…' },
      ]}
    >
      {error && !data ? (
        <Failure error={error} onRetry={() => refetch()} />
      ) : !data ? (
        <Skeleton h={chartHeight} />
      ) : data.messages === 0 ? (
        <NoChart>No messages in this period. Create a tenant and talk to its agent.</NoChart>
      ) : (
        <LateBars
          label="Messages to agents by day"
          rows={days.map(day => ({ day, messages: data.byDay.get(day) ?? 0 }))}
          series={[{ name: 'messages', label: 'Messages', color: 'blue.5' }]}
          height={chartHeight}
        />
      )}
    </ServiceCard>
  );
}
