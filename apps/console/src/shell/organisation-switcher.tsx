import { Button, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBuilding, IconCheck, IconPlus, IconSelector, IconUsers } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useAction } from '../queries/actions.ts';
import { session } from '../queries/api.ts';
import { useOrganisations } from '../queries/organisation.ts';
import { lateComponent } from './late-module.tsx';
import { useWasTrue } from './shortcuts.tsx';

const NewOrganisation = lateComponent(() => import('./new-organisation.tsx'));

// The current organisation, and the others of this person.
export function OrganisationSwitcher({ onLeave }: { onLeave?: () => void }) {
  const { data: organisations = [] } = useOrganisations();
  const [isMaking, { open, close }] = useDisclosure(false);
  const isNewWanted = useWasTrue(isMaking);
  const current = organisations.find(organisation => organisation.isCurrent);
  const go = useAction((accountId: string) => session.switchTo(accountId));
  const navigate = useNavigate();
  const showMembers = () => {
    onLeave?.();
    void navigate({ to: '/account', search: { tab: 'members' } });
  };
  if (!current) return null;
  return (
    <>
      <Menu position="bottom-start">
        <Menu.Target>
          <Button
            variant="default"
            leftSection={<IconBuilding size={16} aria-hidden />}
            rightSection={<IconSelector size={14} aria-hidden />}
            aria-label={`Organisation ${current.name}`}
            loading={go.isPending}
            maw={240}
          >
            {current.name}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>Your organisations</Menu.Label>
          {organisations.map(({ accountId, name, role, isCurrent }) => (
            <Menu.Item
              key={accountId}
              leftSection={
                isCurrent ? <IconCheck size={16} aria-hidden /> : <IconBuilding size={16} aria-hidden />
              }
              onClick={() => !isCurrent && go.mutate(accountId)}
            >
              {name}
              <Text span size="xs" c="dimmed" ml="xs">
                {role}
              </Text>
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<IconUsers size={16} aria-hidden />} onClick={showMembers}>
            Members
          </Menu.Item>
          <Menu.Item leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
            New organisation
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isNewWanted && (
        <Suspense>
          <NewOrganisation isOpen={isMaking} onClose={close} />
        </Suspense>
      )}
    </>
  );
}
