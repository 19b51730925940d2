import { useState } from 'react';
import { Failure, Field, onSubmit, useAction } from '../components.tsx';
import { type Me, meKey } from '../queries.ts';
import { client, tenantId } from '../session.ts';

export function Profile({ me: { user, user_id, scope } }: { me: Me }) {
  const [name, setName] = useState(user?.display_name ?? '');
  const canChange = user !== null && scope.split(' ').includes('profile:write');
  const save = useAction(
    () => client.tenants.updatePortalUser({ tenant_id: tenantId, body: { display_name: name } }),
    meKey,
  );
  return (
    <section>
      <h1>Profile</h1>
      <form className="stack" onSubmit={onSubmit(() => save.mutate(undefined))}>
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
          <button type="submit" className="main" disabled={save.isPending}>
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
        <dt>Id</dt>
        <dd>{user_id}</dd>
        {user && (
          <>
            <dt>Role</dt>
            <dd>{user.role}</dd>
          </>
        )}
      </dl>
    </section>
  );
}
