import { Badge, Button, Card, Group, Stack, Text } from '@mantine/core';
import { Heading, Section } from '../../components/display/section.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Confirm } from '../../components/fields/confirm.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { useAction, useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { useMe, useOrganisation } from '../../queries/organisation.ts';
import { isWrongPassword, OwnPassword } from './own-password.tsx';
import { about, type ProviderName, useOrganisationSignIn, useProviders } from './provider-buttons.tsx';
import { useStepUp } from './step-up.tsx';

// For members who had an account before their organisation had a provider.
export function LinkOrganisation({ hasPassword }: { hasPassword: boolean }) {
  const { data: organisation } = useOrganisation();
  const accountId = organisation?.accountId ?? '';
  const provider = useOrganisationSignIn(accountId);
  const { guard, dialog } = useStepUp();
  const link = useSubmit(async (password: string) => {
    const body = { return_to: '/console/account?tab=security', ...(hasPassword && { password }) };
    const { data } = await guard(() => client.accounts.linkOrganisationProvider({ accountId, body }));
    window.location.assign(data.url);
  });
  const unlink = useAction(() => client.accounts.unlinkOrganisationProvider({ accountId }), {
    done: `Your account is no longer linked to ${provider.data?.name}.`,
  });
  const isWrong = isWrongPassword(link.error);
  if (!provider.data) return null;
  const { name } = provider.data;
  const submit = submitHandler(text => link.mutate(text('password')));
  return (
    <Card withBorder component="section" aria-label="Single sign-on">
      <form onSubmit={submit} aria-label={`Link ${name}`}>
        <Stack>
          <Heading>Single sign-on of {name}</Heading>
          <Text size="sm">Link it once, then sign in to this organisation through its provider.</Text>
          {link.error !== null && !isWrong && <Failure error={link.error} />}
          {hasPassword && <OwnPassword error={link.error} />}
          <Group justify="end">
            <Confirm
              title={`Unlink ${name}?`}
              text="You sign in without the provider from now on. You stay a member of the organisation."
              button="Unlink"
              onConfirm={() => unlink.mutate()}
            >
              {ask => (
                <Button variant="default" loading={unlink.isPending} onClick={ask}>
                  Unlink {name}
                </Button>
              )}
            </Confirm>
            <Button type="submit" variant="default" loading={link.isPending}>
              Link {name}
            </Button>
          </Group>
        </Stack>
      </form>
      {dialog}
    </Card>
  );
}

export function LinkedProviders() {
  const { data: names = [] } = useProviders();
  const me = useMe();
  if (names.length === 0) return null;
  return (
    <Section title="Other ways to sign in">
      <Loaded query={me}>
        {user =>
          names.map(name => (
            <Linked
              key={name}
              name={name}
              isLinked={user[about[name].idOf] !== undefined}
              hasPassword={user.hasPassword}
            />
          ))
        }
      </Loaded>
    </Section>
  );
}

function Linked({
  name,
  isLinked,
  hasPassword,
}: {
  name: ProviderName;
  isLinked: boolean;
  hasPassword: boolean;
}) {
  const { title, icon: Icon } = about[name];
  const { guard, dialog } = useStepUp();
  const link = useSubmit(async (password: string) => {
    const body = { return_to: '/console/account?tab=security', ...(hasPassword && { password }) };
    const { data } = await guard(() => client.accounts.linkProvider({ provider: name, body }));
    window.location.assign(data.url);
  });
  const unlink = useAction(() => client.accounts.unlinkProvider({ provider: name }), { refreshes: [['me']] });
  const isWrong = isWrongPassword(link.error);
  const submit = submitHandler(text => link.mutate(text('password')));
  const heading = (
    <Group gap="xs">
      <Icon size={18} aria-hidden />
      <Text fw={600}>{title}</Text>
      {isLinked && <Badge variant="light">Linked</Badge>}
    </Group>
  );
  if (isLinked)
    return (
      <Group justify="space-between">
        {heading}
        <Confirm
          title={`Unlink ${title}?`}
          text={`You cannot sign in with ${title} until you link it again.`}
          button="Unlink"
          onConfirm={() => unlink.mutate()}
        >
          {ask => (
            <Button variant="default" loading={unlink.isPending} onClick={ask}>
              Unlink {title}
            </Button>
          )}
        </Confirm>
      </Group>
    );
  return (
    <>
      <form onSubmit={submit} aria-label={`Link ${title}`}>
        <Stack gap="xs">
          {heading}
          {link.error !== null && !isWrong && <Failure error={link.error} />}
          <Group align="start">
            {hasPassword && <OwnPassword w={240} error={link.error} />}
            <Button type="submit" variant="default" mt={hasPassword ? 25 : 0} loading={link.isPending}>
              Link {title}
            </Button>
          </Group>
        </Stack>
      </form>
      {dialog}
    </>
  );
}
