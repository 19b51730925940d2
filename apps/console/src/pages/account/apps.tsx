import { Button, Group, Radio, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { DataTable } from '../../components/display/data-table.tsx';
import { Section } from '../../components/display/section.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Confirm } from '../../components/fields/confirm.tsx';
import { useAction, useSubmit } from '../../queries/actions.ts';
import { useAnswer, useRows } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { useMe, useMembers } from '../../queries/organisation.ts';
import { formatAgo, formatTime } from '../../text/format.ts';
import { Frame } from './recovery.tsx';

const route = getRouteApi('/links/authorize');

type Scope = 'read' | 'write';
type RequestedAccess = {
  name: string;
  redirectHost: string;
  scope: Scope;
  mostScope: Scope;
  accountId: string;
  organisation: string;
};

const scopeTexts: Record<Scope, string> = { read: 'Read', write: 'Read and write' };

// The consent page for an app that asks for access. Nothing is decided before a click.
export function AuthorizePage() {
  const { request } = route.useSearch();
  return (
    <Frame title="Connect an app">
      {request === undefined ? (
        <Text size="sm">A part of the link is missing. Start again in the app.</Text>
      ) : (
        <AppRequest key={request} request={request} />
      )}
    </Frame>
  );
}

function AppRequest({ request }: { request: string }) {
  const asked = useAnswer(
    ['app request', request],
    () => client.accounts.readAppRequest({ body: { request } }),
    { retry: false },
  );
  return <Loaded query={asked}>{one => <Decision request={request} asked={one} />}</Loaded>;
}

function Decision({ request, asked }: { request: string; asked: RequestedAccess }) {
  const { name, redirectHost, mostScope, accountId, organisation } = asked;
  const me = useMe();
  const [scope, setScope] = useState<Scope>(mostScope);
  const decide = useSubmit(async (approved: boolean) => {
    const body = { request, accountId, approved, ...(approved && { scope }) };
    window.location.assign((await client.accounts.decideAppRequest({ body })).data.redirectTo);
  });
  // Stays here if the app has no page of its own, but a program that the browser opens.
  if (decide.isSuccess)
    return (
      <Text size="sm" className="stak-break">
        {decide.variables ? (
          <>
            <b>{name}</b> is connected.
          </>
        ) : (
          <>
            You refused: <b>{name}</b> has no access.
          </>
        )}{' '}
        Continue in the app. You can close this page.
      </Text>
    );
  const sending = decide.isPending ? (decide.variables ? 'approved' : 'refused') : undefined;
  return (
    <>
      <Text size="sm" className="stak-break">
        <b>{name}</b> asks for access to the organisation <b>{organisation}</b>, in your name
        {me.data && ` (${me.data.email})`}.
      </Text>
      <Text size="sm" className="stak-break">
        Your answer goes to <b>{redirectHost}</b>. Apps choose their own names: continue only if you have just
        started this in an app that you trust.
      </Text>
      {mostScope === 'write' ? (
        <Radio.Group
          label="What the app may do"
          value={scope}
          onChange={next => setScope(next === 'write' ? 'write' : 'read')}
        >
          <Stack gap="xs" mt="xs">
            <Radio value="write" label={scopeTexts.write} />
            <Radio value="read" label={scopeTexts.read} />
          </Stack>
        </Radio.Group>
      ) : (
        <Text size="sm">
          It may read what you can read.
          {asked.scope === 'write' && ' It asks to write as well, which you may not do here yourself.'}
        </Text>
      )}
      {decide.error !== null && <Failure error={decide.error} />}
      <Button
        loading={sending === 'approved'}
        disabled={sending === 'refused'}
        onClick={() => decide.mutate(true)}
      >
        Connect
      </Button>
      <Button
        variant="default"
        loading={sending === 'refused'}
        disabled={sending === 'approved'}
        onClick={() => decide.mutate(false)}
      >
        Refuse
      </Button>
      <Text size="sm" c="dimmed">
        If you refuse, the app gets no access. You can disconnect it later in Settings, under Security.
      </Text>
    </>
  );
}

/** The apps that have access, each with a way to revoke it. */
export function ConnectedApps() {
  const { data: members = [] } = useMembers();
  const apps = useRows(['apps'], () => client.accounts.listApps({ limit: 100 }));
  const end = useAction(
    ({ userId, sessionId }: { userId: string; sessionId: string }) =>
      client.accounts.endApp({ userId, sessionId }),
    { refreshes: [['apps']] },
  );
  const nameOf = (userId: string): string => {
    const member = members.find(one => one.userId === userId);
    return member?.name ?? member?.email ?? userId;
  };
  return (
    <Section title="Connected apps">
      <Text size="sm">Assistants that were given access by MCP, without an API key.</Text>
      <Loaded query={apps}>
        {rows => (
          <DataTable
            label="Connected apps"
            rows={rows}
            keyOf={row => row.sessionId}
            empty="No app is connected."
            columns={[
              { label: 'App', show: row => row.name },
              { label: 'Answered at', show: row => row.redirectHost },
              { label: 'May', show: row => scopeTexts[row.scope] },
              { label: 'Connected by', show: row => nameOf(row.userId) },
              { label: 'Connected', show: row => formatTime(row.createdAt) },
              { label: 'Last used', show: row => formatAgo(row.lastUsedAt) },
              {
                label: '',
                show: row => (
                  <Group justify="end">
                    <Confirm
                      title={`Disconnect ${row.name}?`}
                      text="It loses access immediately. To connect again, it has to ask again."
                      button="Disconnect"
                      onConfirm={() => end.mutate(row)}
                    >
                      {ask => (
                        <Button
                          size="compact-sm"
                          variant="default"
                          aria-label={`Disconnect ${row.name}`}
                          onClick={ask}
                        >
                          Disconnect
                        </Button>
                      )}
                    </Confirm>
                  </Group>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}
