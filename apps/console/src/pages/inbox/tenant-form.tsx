import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client } from '../../queries/api.ts';
import { tenantsKey } from '../../queries/tenants.ts';
import { type Named, NamedForm } from './named-form.tsx';

export function TenantForm({ onMade }: { onMade?: (tenant_id: string) => void }) {
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: ({ key, title }: Named) =>
      client.tenants.create({ body: { tenant_id: key, name: title, status: 'active' } }),
    onSuccess: ({ data }) => {
      onMade?.(data.tenant_id);
      return queries.invalidateQueries({ queryKey: tenantsKey });
    },
  });
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
