import { Anchor, Button, Card, Code, Group, Progress, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconCheck, IconCircleDashed } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CopyIcon } from '../../components/copy.tsx';
import { TextLink } from '../../components/text-link.tsx';
import { client } from '../../queries/api.ts';
import { useMay } from '../../queries/permissions.ts';

type Progressed = {
  address: string | undefined; // of the first source
  hasKey: boolean;
  hasEvent: boolean;
  hasDelivery: boolean;
  hasMessage: boolean;
  hasTask: boolean;
  hasConversation: boolean;
};

// What an account has done so far, from the lists that the pages themselves show.
async function readProgress(): Promise<Progressed> {
  const [keys, sources, tenants, counts] = await Promise.all([
    client.accounts.listKeys(),
    client.webhooks.listSources(),
    client.tenants.list({ limit: 1 }),
    client.tasks.counts(),
  ]);
  const source = sources.data.data.find(one => one.ingestUrl !== undefined);
  const [tenant] = tenants.data.data;
  const [connections, hasMessage, conversations] = await Promise.all([
    source && client.webhooks.listConnections({ sourceId: source.sourceId }),
    tenant !== undefined && hasSent(tenant.tenant_id),
    tenant && client.agents.listConversations({ tenant_id: tenant.tenant_id, limit: 1 }),
  ]);
  return {
    address: source?.ingestUrl,
    hasKey: keys.data.data.length > 0,
    hasEvent: sources.data.data.some(one => one.eventCount > 0),
    hasDelivery: connections?.data.data.some(one => one.deliveryCount > 0) ?? false,
    hasMessage,
    hasTask: counts.data.total > 0,
    hasConversation: (conversations?.data.data.length ?? 0) > 0,
  };
}

async function hasSent(tenant_id: string): Promise<boolean> {
  const [inbox] = (await client.inbox.listInboxes({ tenant_id })).data.data;
  if (!inbox) return false;
  const { data } = await client.inbox.listSends({ tenant_id, inbox_key: inbox.inbox_key, limit: 1 });
  return data.data.length > 0;
}

type Step = { title: string; isDone: boolean; how: ReactNode };

function stepsOf(done: Progressed): Step[] {
  const send = `curl ${done.address} -H 'Content-Type: application/json' -d '{"type":"order.paid"}'`;
  return [
    {
      title: 'Receive a webhook',
      isDone: done.hasEvent,
      how: done.address ? (
        <Command text={send} />
      ) : (
        <TextLink to="/webhooks">Create a source, and send it a test event</TextLink>
      ),
    },
    {
      title: 'Deliver it to your server',
      isDone: done.hasDelivery,
      how: <TextLink to="/webhooks">Add a connection to the source</TextLink>,
    },
    {
      title: 'Send a message to a user',
      isDone: done.hasMessage,
      how: <TextLink to="/inbox">Create a tenant and an inbox, and compose a message</TextLink>,
    },
    {
      title: 'Add a task',
      isDone: done.hasTask,
      how: <TextLink to="/tasks">Write “Call Ann friday at 5pm”</TextLink>,
    },
    {
      title: 'Talk to an agent',
      isDone: done.hasConversation,
      how: <TextLink to="/agents">Open a tenant and start a conversation</TextLink>,
    },
    {
      title: 'Connect your backend',
      isDone: done.hasKey,
      how: (
        <>
          <TextLink to="/account">Create an API key</TextLink>, then try it in the{' '}
          <Anchor href="/docs/api">API reference</Anchor>
        </>
      ),
    },
  ];
}

const Command = ({ text }: { text: string }) => (
  <Group gap={4} wrap="nowrap" miw={0}>
    <Code className="stak-mono stak-break">{text}</Code>
    <CopyIcon value={text} label="Copy the command" />
  </Group>
);

// For those who can take the steps, until they are done or hidden. The page waits for the answer: the card stands above
// everything else, and would push it down.
export function useFirstSteps() {
  const [isHidden, setIsHidden] = useLocalStorage({
    key: 'stak-first-steps-hidden',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const isWanted = useMay()('webhooks.createSource') && !isHidden;
  const { data, isLoading } = useQuery({
    queryKey: ['first-steps'],
    queryFn: readProgress,
    enabled: isWanted,
    refetchInterval: ({ state }) =>
      state.data && stepsOf(state.data).every(one => one.isDone) ? false : 5_000,
  });
  return { isLoading, steps: isWanted && data ? stepsOf(data) : [], hide: () => setIsHidden(true) };
}

// What to try first. Each step ticks itself off; the card goes once all are done, or at a click.
export function FirstSteps({ steps, onHide }: { steps: readonly Step[]; onHide: () => void }) {
  const done = steps.filter(one => one.isDone).length;
  if (done === steps.length) return null;
  return (
    <Card withBorder component="section" aria-label="First steps">
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h4">
          First steps
        </Title>
        <Button variant="subtle" color="gray" size="compact-sm" onClick={onHide}>
          Hide
        </Button>
      </Group>
      <Progress
        value={(done / steps.length) * 100}
        size="sm"
        mb="md"
        aria-label={`${done} of ${steps.length} steps done`}
      />
      <Stack gap="xs" component="ul" className="stak-steps">
        {steps.map(({ title, isDone, how }) => (
          <Group key={title} component="li" gap="sm" wrap="nowrap" align="start">
            <ThemeIcon
              size={22}
              radius="xl"
              variant={isDone ? 'filled' : 'default'}
              aria-label={isDone ? 'Done' : 'To do'}
              role="img"
            >
              {isDone ? <IconCheck size={14} /> : <IconCircleDashed size={14} />}
            </ThemeIcon>
            <div style={{ minWidth: 0 }}>
              <Text size="sm" fw={600} td={isDone ? 'line-through' : undefined}>
                {title}
              </Text>
              {!isDone && (
                <Text size="sm" component="div">
                  {how}
                </Text>
              )}
            </div>
          </Group>
        ))}
      </Stack>
    </Card>
  );
}
