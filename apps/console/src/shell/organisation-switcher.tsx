import { Button, Group, Menu, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBuilding, IconCheck, IconPlus, IconSelector, IconUsers } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { complain, fieldComplaints } from '../components/complaint.ts';
import { Failure } from '../components/failure.tsx';
import { client, session } from '../queries/api.ts';
import { useOrganisations } from '../queries/organisation.ts';

// Where one works, and where else one could.
export function OrganisationSwitcher({ onLeave }: { onLeave?: () => void }) {
  const { data: organisations = [] } = useOrganisations();
  const [isMaking, { open, close }] = useDisclosure(false);
  const current = organisations.find(one => one.isCurrent);
  const go = useMutation({
    mutationFn: (accountId: string) => session.switchTo(accountId),
    onError: complain,
  });
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
      <Modal opened={isMaking} onClose={close} title="New organisation">
        <NewOrganisation />
      </Modal>
    </>
  );
}

function NewOrganisation() {
  const make = useMutation({
    mutationFn: async (name: string) => {
      const { data } = await client.accounts.createOrganisation({ body: { name } });
      await session.switchTo(data.accountId);
    },
  });
  const complaint = fieldComplaints(make.error).name;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    make.mutate(String(new FormData(event.currentTarget).get('name') ?? ''));
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {make.error !== null && complaint === undefined && <Failure error={make.error} />}
        <TextInput name="name" label="Name" required maxLength={100} error={complaint} data-autofocus />
        <Group justify="end">
          <Button type="submit" loading={make.isPending}>
            Create
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
