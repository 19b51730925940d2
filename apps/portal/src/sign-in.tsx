import { Failure, Field, onSubmit, themeOf } from '@stak/portal-react/parts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type Portal, readPortal, session } from './session.ts';

type Arrival = { link?: string; invitation?: string; refused?: string };

export function SignIn({ link, invitation, refused }: Arrival) {
  const portal = useQuery({ queryKey: ['portal'], queryFn: readPortal, retry: false });
  useEffect(() => {
    if (portal.data) document.title = portal.data.name;
  }, [portal.data]);
  return (
    <main className="stak-portal stak-portal-alone" style={portal.data && themeOf(portal.data)}>
      {portal.isPending && <p role="status">Loading…</p>}
      {portal.error && (
        <>
          <h1>You cannot sign in here</h1>
          <p>Open this page from the product that you use.</p>
          {invitation !== undefined && <AcceptElsewhere invitation={invitation} />}
        </>
      )}
      {portal.data && (
        <>
          <Logo portal={portal.data} />
          {refused !== undefined && (
            <p className="stak-portal-failure" role="alert">
              {refusals[refused] ?? 'The provider did not sign you in. Try again, or ask your admins.'}
            </p>
          )}
          {invitation !== undefined && !portal.data.sign_in ? (
            <>
              <h1>{`Join ${portal.data.name}`}</h1>
              <AcceptElsewhere invitation={invitation} />
              <p>Then sign in with your organisation.</p>
              <Ways portal={portal.data} />
            </>
          ) : invitation !== undefined ? (
            <Join portal={portal.data} invitation={invitation} />
          ) : link !== undefined ? (
            <ByLink portal={portal.data} link={link} />
          ) : (
            <Ways portal={portal.data} />
          )}
        </>
      )}
    </main>
  );
}

// A page that signs nobody in.
const AcceptElsewhere = ({ invitation }: { invitation: string }) => (
  <a className="stak-portal-main" href={`/console/invitation#${invitation}`}>
    Accept the invitation
  </a>
);

// Why signing in through the tenant's provider failed, in words for the user.
const refusals: Readonly<Record<string, string>> = {
  'tenants.sign_in_refused': 'You have no access here. Ask your admins to add you.',
  'tenants.user_limit_reached': 'There is no room for another user. Ask your admins.',
  'accounts.sign_in_expired': 'That took too long, or began in another browser. Try again.',
  'accounts.sign_in_denied': 'The provider did not sign you in.',
};

function Ways({ portal }: { portal: Portal }) {
  return (
    <>
      {portal.provider && (
        <>
          {!portal.sign_in && <h1>{`Sign in to ${portal.name}`}</h1>}
          <a className="stak-portal-main" href={`/v1/portal/${portal.tenant_id}/provider/start`}>
            Sign in with your organisation
          </a>
        </>
      )}
      {portal.sign_in && <ByMail portal={portal} />}
    </>
  );
}

function Logo({ portal }: { portal: Portal }) {
  return portal.logo === undefined ? null : <img className="stak-portal-logo" src={portal.logo} alt="" />;
}

// Needs a click, so that programs that scan e-mails do not use up the link.
function ByLink({ portal, link }: { portal: Portal; link: string }) {
  const finish = useMutation({ mutationFn: () => session.finish({ token: link }) });
  return (
    <>
      <h1>{`Sign in to ${portal.name}`}</h1>
      <p>
        Continue only if this link came to you by mail: it signs you in as the person whose address the mail
        was sent to.
      </p>
      <button
        type="button"
        className="stak-portal-main"
        disabled={finish.isPending}
        onClick={() => finish.mutate()}
      >
        Sign in
      </button>
      {finish.error && (
        <>
          <Failure error={finish.error} />
          <Ways portal={portal} />
        </>
      )}
    </>
  );
}

function Join({ portal, invitation }: { portal: Portal; invitation: string }) {
  const [name, setName] = useState('');
  const join = useMutation({ mutationFn: () => session.join(invitation, name) });
  return (
    <>
      <h1>{`Join ${portal.name}`}</h1>
      <p>
        Continue only if this link came to you by mail: it signs you in as the person whose address the mail
        was sent to.
      </p>
      <form onSubmit={onSubmit(() => join.mutate())}>
        <Field label="Your name">
          {id => (
            <input
              id={id}
              required
              autoComplete="name"
              maxLength={200}
              value={name}
              onChange={event => setName(event.target.value)}
            />
          )}
        </Field>
        <button type="submit" className="stak-portal-main" disabled={join.isPending}>
          Accept the invitation
        </button>
      </form>
      {join.error && (
        <>
          <Failure error={join.error} />
          <Ways portal={portal} />
        </>
      )}
    </>
  );
}

function ByMail({ portal }: { portal: Portal }) {
  const [email, setEmail] = useState('');
  const [code, setCode] = useState('');
  const ask = useMutation({ mutationFn: () => session.ask(email) });
  const attempt = ask.data?.attempt;
  const finish = useMutation({ mutationFn: () => session.finish({ attempt: attempt!, code }) });

  if (attempt === undefined)
    return (
      <>
        <h1>{`Sign in to ${portal.name}`}</h1>
        <form onSubmit={onSubmit(() => ask.mutate())}>
          <Field label="E-mail">
            {id => (
              <input
                id={id}
                type="email"
                required
                autoComplete="email"
                value={email}
                onChange={event => setEmail(event.target.value)}
              />
            )}
          </Field>
          <button type="submit" className="stak-portal-main" disabled={ask.isPending}>
            Send me a code
          </button>
        </form>
        <Failure error={ask.error} />
      </>
    );
  return (
    <>
      <h1>Check your e-mail</h1>
      <p>{`If ${email} belongs to a user, a code is on its way. It works for 15 minutes.`}</p>
      <form onSubmit={onSubmit(() => finish.mutate())}>
        <Field label="Code">
          {id => (
            <input
              id={id}
              required
              inputMode="numeric"
              autoComplete="one-time-code"
              maxLength={12}
              value={code}
              onChange={event => setCode(event.target.value)}
            />
          )}
        </Field>
        <button type="submit" className="stak-portal-main" disabled={finish.isPending}>
          Sign in
        </button>
        <button type="button" onClick={() => ask.reset()}>
          Another address
        </button>
      </form>
      <Failure error={finish.error} />
    </>
  );
}
