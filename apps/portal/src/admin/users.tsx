import { ConfirmButton, Failure, Field, Loaded, onSubmit, useAction } from '@stak/portal-react/parts';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { invitationsKey, usersKey } from '../queries.ts';
import { client, tenantId } from '../session.ts';

const tenant_id = tenantId;
type Role = 'admin' | 'member';
const roleNames: Readonly<Record<Role, string>> = { member: 'Member', admin: 'Admin' };
const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

export function Users() {
  const pages = useInfiniteQuery({
    queryKey: usersKey,
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: cursor }) =>
      (await client.tenants.listUsers({ tenant_id, limit: 50, ...(cursor !== undefined && { cursor }) }))
        .data,
    getNextPageParam: last => last.next_cursor ?? undefined,
  });
  const change = useAction(
    ({ user_id, version, role }: { user_id: string; version: number; role: Role }) =>
      client.tenants.updateUser({ tenant_id, user_id, body: { role } }, { ifMatch: `"v${version}"` }),
    usersKey,
  );
  const remove = useAction((user_id: string) => client.tenants.deleteUser({ tenant_id, user_id }), usersKey);
  const users = pages.data?.pages.flatMap(page => page.data) ?? [];
  return (
    <section>
      <h1>Users</h1>
      <Failure error={pages.error ?? change.error ?? remove.error} />
      <div className="stak-portal-scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">E-mail</th>
              <th scope="col">Role</th>
              <ActionsHead />
            </tr>
          </thead>
          <tbody>
            {users.map(user => (
              <tr key={user.user_id}>
                <td>{user.display_name}</td>
                <td className="stak-portal-wide">{user.email}</td>
                <td>
                  <select
                    aria-label={`Role of ${user.display_name}`}
                    value={user.role}
                    onChange={event => change.mutate({ ...user, role: event.target.value as Role })}
                  >
                    <RoleOptions />
                  </select>
                </td>
                <td>
                  <ConfirmButton
                    label="Remove"
                    about={user.display_name}
                    onConfirm={() => remove.mutate(user.user_id)}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages.isPending && (
        <p role="status" className="stak-portal-dim">
          Loading…
        </p>
      )}
      {pages.hasNextPage && (
        <button type="button" disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          More users
        </button>
      )}
      <Invitations />
    </section>
  );
}

const ActionsHead = () => (
  <th scope="col">
    <span className="stak-portal-hidden">Actions</span>
  </th>
);

const RoleOptions = () =>
  Object.entries(roleNames).map(([role, name]) => (
    <option key={role} value={role}>
      {name}
    </option>
  ));

function Invitations() {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const list = useQuery({
    queryKey: invitationsKey,
    queryFn: async () => (await client.tenants.listInvitations({ tenant_id, limit: 100 })).data.data,
  });
  const invite = useAction(async () => {
    await client.tenants.createInvitation({ tenant_id, body: { email, role } });
    setEmail('');
  }, invitationsKey);
  const revoke = useAction(
    (invitation_id: string) => client.tenants.revokeInvitation({ tenant_id, invitation_id }),
    invitationsKey,
  );
  return (
    <section aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      <form onSubmit={onSubmit(() => invite.mutate(undefined))}>
        <Field label="E-mail of the person to invite">
          {id => (
            <input
              id={id}
              type="email"
              required
              value={email}
              onChange={event => setEmail(event.target.value)}
            />
          )}
        </Field>
        <Field label="Role">
          {id => (
            <select id={id} value={role} onChange={event => setRole(event.target.value as Role)}>
              <RoleOptions />
            </select>
          )}
        </Field>
        <button type="submit" className="stak-portal-main" disabled={invite.isPending}>
          Send the invitation
        </button>
      </form>
      <Failure error={invite.error ?? revoke.error} />
      <Loaded query={list}>
        {all =>
          all.length > 0 && (
            <div className="stak-portal-scroll">
              <table aria-labelledby="invitations">
                <thead>
                  <tr>
                    <th scope="col">E-mail</th>
                    <th scope="col">Role</th>
                    <th scope="col">Expires</th>
                    <ActionsHead />
                  </tr>
                </thead>
                <tbody>
                  {all.map(one => (
                    <tr key={one.invitation_id}>
                      <td>{one.email}</td>
                      <td>{roleNames[one.role]}</td>
                      <td data-label="Expires">{dayFormat.format(new Date(one.expires_at))}</td>
                      <td>
                        <ConfirmButton
                          label="Withdraw"
                          about={`the invitation of ${one.email}`}
                          onConfirm={() => revoke.mutate(one.invitation_id)}
                        />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </section>
  );
}
