import { ActionIcon, Button, Group, Menu, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconDots, IconPencil, IconPlayerPause, IconTrash } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../../api.ts';
import { complain } from '../../complaint.ts';
import { tenantsKey } from '../inbox/place.ts';
import { Confirm } from './confirm.tsx';
import { type Tenant, tenantKey } from './place.ts';
import { RenameForm } from './rename-form.tsx';

type Change = { name?: string; status?: 'active' | 'suspended' };

export function TenantActions({ tenant: { tenant_id, name, status } }: { tenant: Tenant }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isRenaming, { open, close }] = useDisclosure(false);
  const update = (body: Change) => client.tenants.update({ tenant_id, body });
  const onSuccess = ({ data }: { data: Tenant }) => {
    queries.setQueryData(tenantKey(tenant_id), data);
    close();
    return queries.invalidateQueries({ queryKey: tenantsKey });
  };
  const rename = useMutation({ mutationFn: (to: string) => update({ name: to }), onSuccess });
  const turn = useMutation({
    mutationFn: (to: 'active' | 'suspended') => update({ status: to }),
    onSuccess,
    onError: complain,
  });
  const remove = useMutation({
    mutationFn: () => client.tenants.delete({ tenant_id }),
    onSuccess: () => {
      notifications.show({ message: `${name} is closed, and everything it had is being erased.` });
      void queries.invalidateQueries({ queryKey: tenantsKey });
      return navigate({ to: '/agents' });
    },
    onError: complain,
  });
  return (
    <Group gap="xs">
      {status !== 'active' && (
        <Button size="xs" loading={turn.isPending} onClick={() => turn.mutate('active')}>
          Activate
        </Button>
      )}
      <Confirm
        title="Suspend this tenant?"
        text="Its users are refused and its channels fall silent, until you activate it again. Nothing is lost."
        button="Suspend"
        onConfirm={() => turn.mutate('suspended')}
      >
        {askSuspend => (
          <Confirm
            title="Delete this tenant?"
            text={`${name} is closed at once; its users, conversations, inboxes and everything else of it are erased. Its id ${tenant_id} is never given again.`}
            button="Delete tenant"
            onConfirm={() => remove.mutate()}
          >
            {askDelete => (
              <Menu position="bottom-end">
                <Menu.Target>
                  <ActionIcon variant="default" size="lg" aria-label="Actions of this tenant">
                    <IconDots size={18} />
                  </ActionIcon>
                </Menu.Target>
                <Menu.Dropdown>
                  <Menu.Item leftSection={<IconPencil size={16} />} onClick={open}>
                    Rename…
                  </Menu.Item>
                  {status === 'active' && (
                    <Menu.Item leftSection={<IconPlayerPause size={16} />} onClick={askSuspend}>
                      Suspend…
                    </Menu.Item>
                  )}
                  <Menu.Item leftSection={<IconTrash size={16} />} onClick={askDelete}>
                    Delete…
                  </Menu.Item>
                </Menu.Dropdown>
              </Menu>
            )}
          </Confirm>
        )}
      </Confirm>
      <Modal opened={isRenaming} onClose={close} title="Rename this tenant">
        <RenameForm
          label="Name"
          name={name}
          isBusy={rename.isPending}
          error={rename.error}
          onRename={rename.mutate}
        />
      </Modal>
    </Group>
  );
}
