import { Anchor, Button, Card, Code, Group, Progress, Stack, Text, ThemeIcon } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { ApiTypes } from '@stak/client';
import { IconCheck, IconCircleDashed } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Heading } from '../../components/display/section.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { CopyIcon } from '../../components/fields/copy.tsx';
import { client, session } from '../../queries/api.ts';
import { useMay } from '../../queries/permissions.ts';
import type { Tenant } from '../../queries/tenants.ts';

type Source = ApiTypes['webhooks.readSource']['data'];
type Progressed = {
  source: Source | undefined; // to send to; preferably one that does not verify signatures
  hasKey: boolean;
  hasEvent: boolean;
  hasDelivery: boolean;
  hasMessage: boolean;
  hasTask: boolean;
  hasConversation: boolean;
};

const firstStepsKey = ['first-steps'];
const lookedThrough = 10; // of each kind; accounts with more are past the first steps

// One after the other, because the first one usually decides.
async function isAny<T>(all: readonly T[], isTrue: (one: T) => Promise<boolean>): Promise<boolean> {
  for (const one of all.slice(0, lookedThrough)) if (await isTrue(one)) return true;
  return false;
}

type FinishedSteps = Omit<Progressed, 'source'>;

// Reads what the account has done so far from the lists that the pages show. Steps that were done before are not
// looked for again.
async function readProgress(before: Partial<FinishedSteps> = {}): Promise<Progressed> {
  const needsTenants = !before.hasMessage || !before.hasConversation;
  const [hasKey, sources, tenants, hasTask] = await Promise.all([
    before.hasKey || client.accounts.listKeys().then(({ data }) => data.data.length > 0),
    before.hasEvent && before.hasDelivery ? [] : client.webhooks.listSources().then(({ data }) => data.data),
    needsTenants ? client.tenants.list({ limit: lookedThrough }).then(({ data }) => data.data) : [],
    before.hasTask || client.tasks.counts().then(({ data }) => data.total > 0),
  ]);
  const fromOutside = sources.filter(source => source.ingestUrl !== undefined);
  const withEvents = sources.filter(source => source.eventCount > 0);
  const [hasDelivery, hasMessage, hasConversation] = await Promise.all([
    before.hasDelivery || isAny(withEvents, hasDelivered),
    before.hasMessage || isAny(tenants, hasSent),
    before.hasConversation || isAny(tenants, hasTalked),
  ]);
  return {
    source: fromOutside.find(one => one.signatures === 'off') ?? fromOutside[0],
    hasKey,
    hasEvent: before.hasEvent || withEvents.length > 0,
    hasDelivery,
    hasMessage,
    hasTask,
    hasConversation,
  };
}

async function hasDelivered({ sourceId }: Source): Promise<boolean> {
  const { data } = await client.webhooks.listConnections({ sourceId });
  return data.data.some(one => one.deliveryCount > 0);
}

async function hasSent({ tenant_id }: Tenant): Promise<boolean> {
  const { data: inboxes } = await client.inbox.listInboxes({ tenant_id });
  return isAny(inboxes.data, async ({ inbox_key }) => {
    const { data } = await client.inbox.listSends({ tenant_id, inbox_key, limit: 1 });
    return data.data.length > 0;
  });
}

async function hasTalked({ tenant_id }: Tenant): Promise<boolean> {
  const { data } = await client.agents.listConversations({ tenant_id, limit: 1 });
  return data.data.length > 0;
}

type Step = { title: string; isDone: boolean; how: ReactNode };

// A source that verifies signatures rejects a plain request, so its page sends a signed one.
function SendEvent({ source }: { source: Source | undefined }) {
  if (!source) return <TextLink to="/webhooks">Create a source, and send it a test event</TextLink>;
  const { sourceId, name, ingestUrl, signatures } = source;
  if (signatures !== 'off')
    return (
      <TextLink to="/webhooks/$source" params={{ source: sourceId }}>
        Open {name}, and send a test event
      </TextLink>
    );
  return (
    <Command text={`curl ${ingestUrl} -H 'Content-Type: application/json' -d '{"type":"order.paid"}'`} />
  );
}

function stepsOf(done: Progressed): Step[] {
  return [
    { title: 'Receive a webhook', isDone: done.hasEvent, how: <SendEvent source={done.source} /> },
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

// Shown to people who may take the steps, until they are done or hidden. The page waits for the answer, because the
// card is at the top and would push everything else down.
export function useFirstSteps() {
  const [isHidden, setIsHidden] = useLocalStorage({
    key: `stak-first-steps-hidden-${session.accountId()}`,
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const isWanted = useMay()('webhooks.createSource') && !isHidden;
  const { data, isLoading } = useQuery({
    queryKey: firstStepsKey,
    queryFn: ({ client: queries }) => readProgress(queries.getQueryData<Progressed>(firstStepsKey)),
    enabled: isWanted,
  });
  return { isLoading, steps: isWanted && data ? stepsOf(data) : [], hide: () => setIsHidden(true) };
}

// Suggests what to try first. Each step ticks itself off. The card disappears when all are done or when it is
// dismissed.
export function FirstSteps({ steps, onHide }: { steps: readonly Step[]; onHide: () => void }) {
  const done = steps.filter(step => step.isDone).length;
  if (done === steps.length) return null;
  return (
    <Card withBorder component="section" aria-label="First steps">
      <Group justify="space-between" mb="xs">
        <Heading>First steps</Heading>
        <Group gap="xs">
          <Text size="sm" c="dimmed" aria-hidden>
            {done} of {steps.length} done
          </Text>
          <Button variant="subtle" color="gray" size="compact-sm" onClick={onHide}>
            Hide
          </Button>
        </Group>
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
