import { useState } from 'react';
import { Failure, Field, Loaded, onSubmit, Title, useAction } from '../parts.tsx';
import { usePortal } from '../provider.tsx';
import { type PortalUser, usePortalUser, userKey } from '../queries.ts';

export function Profile() {
  return (
    <section>
      <Title>Profile</Title>
      <Loaded query={usePortalUser()}>{user => <Own user={user} />}</Loaded>
    </section>
  );
}

function Own({ user: { user, user_id, scope } }: { user: PortalUser }) {
  const { client, tenant_id } = usePortal();
  const [name, setName] = useState(user?.display_name ?? '');
  const canChange = user !== null && scope.split(' ').includes('profile:write');
  const save = useAction(
    () => client.tenants.updatePortalUser({ tenant_id, body: { display_name: name } }),
    userKey,
  );
  return (
    <>
      <form className="stak-portal-stack" onSubmit={onSubmit(() => save.mutate(undefined))}>
        <Field label="Name">
          {id => (
            <input
              id={id}
              required
              maxLength={200}
              readOnly={!canChange}
              value={name}
              onChange={event => setName(event.target.value)}
            />
          )}
        </Field>
        {canChange && (
          <button type="submit" className="stak-portal-main" disabled={save.isPending}>
            Save
          </button>
        )}
        {save.isSuccess && <p role="status">Saved.</p>}
        <Failure error={save.error} />
      </form>
      <dl>
        {user?.email !== undefined && (
          <>
            <dt>E-mail</dt>
            <dd>{user.email}</dd>
          </>
        )}
        <dt>ID</dt>
        <dd>{user_id}</dd>
        {user && (
          <>
            <dt>Role</dt>
            <dd>{user.role === 'admin' ? 'Admin' : 'Member'}</dd>
          </>
        )}
      </dl>
    </>
  );
}
