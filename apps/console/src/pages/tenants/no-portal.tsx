import { Alert, Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { useAction } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { portalKey, settingsKey, usePortal } from '../../queries/tenants.ts';

/** Says that an invited user could not sign in to the portal, with the button that changes it. */
export function NoPortal({ tenant_id }: { tenant_id: string }) {
  const queries = useQueryClient();
  const portal = usePortal(tenant_id);
  const open = useAction(
    () => client.tenants.updateSettings({ tenant_id, body: { portal_sign_in: 'mail' } }, { ifMatch: '*' }),
    {
      onSettled: () =>
        Promise.all(
          [portalKey(tenant_id), settingsKey(tenant_id)].map(queryKey =>
            queries.invalidateQueries({ queryKey }),
          ),
        ),
    },
  );
  if (portal.data !== null) return null;
  return (
    <Alert color="yellow" title="Nobody can sign in to the portal yet">
      <Group justify="space-between">
        <Text size="sm">
          {open.isSuccess
            ? 'This server sends no mail, so users can sign in only through your product or a provider.'
            : 'An invited person becomes a user, but has no page to open.'}
        </Text>
        {!open.isSuccess && (
          <Permitted to="tenants.updateSettings">
            <Button size="xs" variant="default" loading={open.isPending} onClick={() => open.mutate()}>
              Let users sign in with a mailed code
            </Button>
          </Permitted>
        )}
      </Group>
    </Alert>
  );
}
