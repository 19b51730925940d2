import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { tenantsKey } from '../../queries/tenants.ts';
import { type Named, NamedForm } from './named-form.tsx';

export function TenantForm({ onMade }: { onMade?: (tenant_id: string) => void }) {
  const create = useSubmit(
    ({ key, title }: Named) =>
      client.tenants.create({ body: { tenant_id: key, name: title, status: 'active' } }),
    { onSuccess: ({ data }) => onMade?.(data.tenant_id), refreshes: [tenantsKey] },
  );
  return (
    <NamedForm
      titleLabel="Name"
      placeholder="Demo shop"
      button="Create tenant"
      isBusy={create.isPending}
      error={create.error}
      onSubmit={create.mutate}
    />
  );
}
