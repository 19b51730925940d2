import { Button, Group, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPencil, IconPlayerPause, IconTrash } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { ActionMenu } from '../../components/fields/action-menu.tsx';
import { useAction, useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { type Tenant, tenantKey, tenantsKey } from '../../queries/tenants.ts';
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
  const rename = useSubmit((to: string) => update({ name: to }), { onSuccess });
  const turn = useAction((to: 'active' | 'suspended') => update({ status: to }), { onSuccess });
  const remove = useAction(() => client.tenants.delete({ tenant_id }), {
    done: `${name} is closed, and its data is being erased.`,
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: tenantsKey });
      return navigate({ to: '/tenants' });
    },
  });
  const suspension = {
    label: 'Suspend…',
    icon: IconPlayerPause,
    needs: 'tenants.update' as const,
    question: {
      title: 'Suspend this tenant?',
      text: 'Its users are refused and its channels do not answer until you activate it again. Nothing is lost.',
      button: 'Suspend',
    },
    onClick: () => turn.mutate('suspended'),
  };
  return (
    <Group gap="xs">
      {status !== 'active' && (
        <Permitted to="tenants.update">
          <Button size="xs" loading={turn.isPending} onClick={() => turn.mutate('active')}>
            Activate
          </Button>
        </Permitted>
      )}
      <ActionMenu
        label="Actions of this tenant"
        variant="default"
        size="lg"
        actions={[
          { label: 'Rename…', icon: IconPencil, needs: 'tenants.update', onClick: open },
          ...(status === 'active' ? [suspension] : []),
          {
            label: 'Delete…',
            icon: IconTrash,
            needs: 'tenants.delete',
            question: {
              title: 'Delete this tenant?',
              text: `${name} is closed immediately; its users, conversations, inboxes and all other data are erased. The id ${tenant_id} is never used again.`,
              button: 'Delete tenant',
            },
            onClick: () => remove.mutate(),
          },
        ]}
      />
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
