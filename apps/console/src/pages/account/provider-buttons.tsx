import { Button, Divider } from '@mantine/core';
import { IconBrandGithub, IconBrandGoogle } from '@tabler/icons-react';
import { Failure } from '../../components/feedback/failure.tsx';
import { useAnswer, useRows } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { keepDestination } from '../../queries/destination.ts';

// Kept small: the sign-in page loads this module, but none of the pages behind it.

export const about = {
  github: { title: 'GitHub', icon: IconBrandGithub, idOf: 'githubId' },
  google: { title: 'Google', icon: IconBrandGoogle, idOf: 'googleId' },
} as const;
export type ProviderName = keyof typeof about;

// The providers that this server is configured for.
export const useProviders = () =>
  useRows(['providers'], () => client.accounts.listProviders(), { staleTime: Number.POSITIVE_INFINITY });

// The browser goes to the provider and returns signed in. The fragment of the address is kept here meanwhile.
export function ProviderButtons({ to }: { to: string }) {
  const { data: names = [] } = useProviders();
  if (names.length === 0) return null;
  const returnTo = encodeURIComponent(`/console${to.split('#', 1)[0]}`);
  return (
    <>
      {names.map(name => {
        const { title, icon: Icon } = about[name];
        return (
          <Button
            key={name}
            component="a"
            href={`/v1/auth/${name}/start?return_to=${returnTo}`}
            onClick={() => keepDestination(to)}
            variant="default"
            leftSection={<Icon size={18} aria-hidden />}
          >
            Continue with {title}
          </Button>
        );
      })}
      <Divider label="or" />
    </>
  );
}

/** The sign-in button of an organisation's own provider. Nothing without an id. */
export const useOrganisationSignIn = (accountId = '') =>
  useAnswer(
    ['organisation-sign-in', accountId],
    () => client.accounts.readOrganisationSignIn({ accountId }),
    { enabled: accountId !== '', retry: false },
  );

// The sign-in link of an organisation carries its id, which leads to its own provider.
export function OrganisationButton({ accountId, to }: { accountId: string; to: string }) {
  const found = useOrganisationSignIn(accountId);
  if (found.error !== null) return <Failure error={found.error} />;
  if (!found.data) return null;
  const returnTo = encodeURIComponent(`/console${to.split('#', 1)[0]}`);
  return (
    <>
      <Button
        component="a"
        href={`/v1/auth/organisations/${encodeURIComponent(accountId)}/start?return_to=${returnTo}`}
        onClick={() => keepDestination(to)}
      >
        Continue with {found.data.name}
      </Button>
      <Divider label="or" />
    </>
  );
}
