import { Alert, Badge, Button, Card, Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { StakError } from '@stak/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Heading, Section } from '../../components/display/section.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { useAction } from '../../queries/actions.ts';
import { useAnswer, useRows } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { useMay } from '../../queries/permissions.ts';
import { withCapital } from '../../text/capital.ts';
import { formatDay } from '../../text/days.ts';
import { counted, formatBytes, formatNumber, formatTime } from '../../text/format.ts';

const route = getRouteApi('/inside/account');
const back = '/console/account?tab=billing';

type Plan = Awaited<ReturnType<typeof client.accounts.listPlans>>['data']['data'][number];
type Billed = Awaited<ReturnType<typeof client.accounts.readBilling>>['data'];
type Usage = Awaited<ReturnType<typeof client.accounts.getUsage>>['data'];

const useUsage = () => useAnswer(['usage'], () => client.accounts.getUsage());

// Null if nothing is sold, because the server has no Stripe key.
const useBilling = () =>
  useQuery({
    queryKey: ['billing'],
    queryFn: async (): Promise<Billed | null> => {
      try {
        return (await client.accounts.readBilling()).data;
      } catch (error) {
        if (error instanceof StakError && error.code === 'accounts.billing_not_configured') return null;
        throw error;
      }
    },
  });

export function Billing() {
  const { checkout } = route.useSearch();
  const usage = useUsage();
  const billing = useBilling();
  const plans = useRows(['plans'], () => client.accounts.listPlans());
  const may = useMay();
  return (
    <Stack>
      {checkout === 'done' && (
        <Alert title="Thank you">The plan changes when Stripe confirms the payment.</Alert>
      )}
      {checkout === 'cancelled' && <Alert title="Nothing was bought">The plan stays what it was.</Alert>}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Loaded query={usage}>{found => <UsageCard {...found} />}</Loaded>
        <Loaded query={billing}>
          {billed => (
            <PlanCard
              plan={usage.data?.plan ?? billed?.plan ?? ''}
              billed={billed}
              mayChange={may('accounts.openBillingPortal')}
            />
          )}
        </Loaded>
      </SimpleGrid>
      {billing.data && (
        <Loaded query={plans}>
          {all => <Offers plans={all} billed={billing.data!} mayBuy={may('accounts.startCheckout')} />}
        </Loaded>
      )}
    </Stack>
  );
}

const planName = (plan: string): string => (plan === 'selfhosted' ? 'Self-hosted' : withCapital(plan));

const inWords = { dateStyle: 'medium' } as const;

function UsageCard({ usageThisMonth, usagePeriodStart, eventsPerMonth, tenants, storage }: Usage) {
  return (
    <Section title="Usage">
      <Bar
        label={`Events since ${formatDay(usagePeriodStart.slice(0, 10), inWords)}`}
        used={usageThisMonth}
        limit={eventsPerMonth}
        format={formatNumber}
        atLimit="sources answer 402 to further events until the next month; what was accepted is delivered."
      />
      {tenants.used !== null && (
        <Bar
          label="Tenants"
          used={tenants.used}
          limit={tenants.limit}
          format={formatNumber}
          atLimit="no further tenants can be created; existing ones keep working."
        />
      )}
      <Bar
        label={storage.isComplete ? 'Storage' : 'Storage, still counting'}
        used={storage.usedBytes}
        limit={storage.limitBytes}
        format={formatBytes}
        atLimit="requests that would store more answer 402; reading and deleting still work."
      />
    </Section>
  );
}

type BarProps = {
  label: string;
  used: number;
  limit: number | null;
  format: (value: number) => string;
  atLimit: string;
};

function Bar({ label, used, limit, format, atLimit }: BarProps) {
  const share = limit === null ? 0 : (100 * used) / limit;
  const color = share < 80 ? undefined : share < 100 ? 'yellow' : 'red';
  return (
    <div>
      <Group justify="space-between">
        <Text size="sm">{label}</Text>
        <Text size="sm">
          {format(used)}
          {limit === null ? ', no limit' : ` of ${format(limit)}`}
        </Text>
      </Group>
      {limit !== null && (
        <>
          <Progress mt={4} value={Math.min(100, share)} color={color} aria-label={label} />
          <Text size="xs" c="dimmed" mt={4}>
            {share < 100 ? 'At the limit' : 'The limit is reached'}: {atLimit}
          </Text>
        </>
      )}
    </div>
  );
}

const statusTexts: Readonly<Record<string, string>> = {
  past_due: 'The last payment failed. Stripe tries again; update your card so that the plan stays.',
  trialing: 'In its trial period.',
};

function PlanCard({ plan, billed, mayChange }: { plan: string; billed: Billed | null; mayChange: boolean }) {
  const portal = useAction(async () => {
    const { data } = await client.accounts.openBillingPortal({ body: { return_to: back } });
    window.location.assign(data.url);
  });
  const { status, currentPeriodEnd, cancelAtPeriodEnd } = billed ?? {};
  const warning = status === undefined ? undefined : statusTexts[status];
  return (
    <Card withBorder component="section" aria-label="Plan">
      <Stack>
        <Group justify="space-between">
          <Heading>Plan</Heading>
          <Badge size="lg">{planName(plan)}</Badge>
        </Group>
        {warning !== undefined && <Alert color={status === 'past_due' ? 'red' : undefined}>{warning}</Alert>}
        {billed === null && <Text size="sm">This server sells no plans. Its operator sets yours.</Text>}
        {currentPeriodEnd !== undefined && (
          <Text size="sm">
            {cancelAtPeriodEnd
              ? `Cancelled: it ends on ${formatTime(currentPeriodEnd)}, and the plan is free from then on.`
              : `Paid until ${formatTime(currentPeriodEnd)}, and renewed then.`}
          </Text>
        )}
        {billed !== null && !mayChange && (
          <Text size="sm">Only owners of the organisation can change the plan.</Text>
        )}
        {status !== undefined && mayChange && (
          <Group justify="end">
            <Button variant="default" loading={portal.isPending} onClick={() => portal.mutate()}>
              Change, cancel, see invoices
            </Button>
          </Group>
        )}
      </Stack>
    </Card>
  );
}

const allowed = (count: number | null, one: string): string =>
  count === null ? `Unlimited ${one}s` : counted(count, one);

function Offers({ plans, billed, mayBuy }: { plans: readonly Plan[]; billed: Billed; mayBuy: boolean }) {
  const buy = useAction(async (plan: Billed['plansSold'][number]) => {
    const { data } = await client.accounts.startCheckout({ body: { plan, return_to: back } });
    window.location.assign(data.url);
  });
  const sold = plans.flatMap(plan => {
    const name = billed.plansSold.find(one => one === plan.plan);
    return name === undefined ? [] : [{ ...plan, name }];
  });
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      {sold.map(({ name, ...plan }) => (
        <Card key={name} withBorder component="section" aria-label={`Plan ${name}`}>
          <Stack gap="xs">
            <Heading>{planName(name)}</Heading>
            <Text size="sm">{allowed(plan.eventsPerMonth, 'event')} a month</Text>
            <Text size="sm">{allowed(plan.eventsPerMinute, 'event')} a minute</Text>
            <Text size="sm">Kept for {counted(Math.round(plan.retentionSeconds / 86_400), 'day')}</Text>
            <Text size="sm">{allowed(plan.seats, 'member')}</Text>
            <Text size="sm">{allowed(plan.tenants, 'tenant')}</Text>
            <Text size="sm">{allowed(plan.usersPerTenant, 'user')} of each tenant</Text>
            <Text size="sm">
              {plan.storageBytes === null ? 'Unlimited' : formatBytes(plan.storageBytes)} storage
            </Text>
            {billed.status === undefined && mayBuy && (
              <Button
                loading={buy.isPending && buy.variables === name}
                onClick={() => buy.mutate(name)}
                aria-label={`Buy ${name}`}
              >
                Buy
              </Button>
            )}
            {billed.plan === name && <Badge variant="light">Your plan</Badge>}
          </Stack>
        </Card>
      ))}
    </SimpleGrid>
  );
}
