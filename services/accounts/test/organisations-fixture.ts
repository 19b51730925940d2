import { afterEach, beforeEach, expect } from 'vitest';
import { type Engine, password, type Serving, serve, type Tokens, tokenIn } from './open-accounts.ts';

export type Person = Tokens & { account_id: string; email: string };

// Ann, who owns an organisation, on a new server for each test; and what people do there.
export function useOrganisation(open: () => Promise<Engine>) {
  const at = {} as { engine: Engine; fixture: Serving; ann: Person };
  beforeEach(async () => {
    at.engine = await open();
    at.fixture = serve(at.engine, { defaultPlan: 'selfhosted' });
    at.ann = await signUp('ann@example.com');
  });
  afterEach(async () => {
    await at.fixture.settle();
    await at.engine.close();
  });

  let addresses = 0;
  const signUp = async (email: string): Promise<Person> => {
    const send = { email, password, name: email.split('@')[0], cookie: false };
    const address = `198.51.100.${++addresses % 250}`;
    const answer = await at.fixture.call('POST', '/v1/auth/signup', { send, address });
    expect(answer.status).toBe(201);
    return { ...((await answer.json()) as Person), email };
  };
  const logIn = async (email: string): Promise<Person> => ({
    ...((await (await at.fixture.logIn(email)).json()) as Person),
    email,
  });
  const invite = (by: Person, email: string, role = 'member', server = at.fixture) =>
    server.call('POST', '/v1/invitations', {
      as: by.access_token,
      send: { email, role },
      address: `203.0.113.${++addresses % 250}`,
    });
  const invited = async (email: string, role?: string): Promise<string> => {
    const answer = await invite(at.ann, email, role);
    expect(answer.status, await answer.clone().text()).toBe(201);
    return tokenIn((await at.fixture.mailsTo(email)).findLast(one => one.subject.startsWith('Join')));
  };
  const accept = (by: Person, token: string, server = at.fixture) =>
    server.call('POST', '/v1/auth/invitation/accept', {
      as: by.access_token,
      send: { token },
      address: `192.0.2.${++addresses % 250}`,
    });
  const switchTo = (by: Person, accountId: string) =>
    at.fixture.call('POST', '/v1/auth/switch', { as: by.access_token, send: { accountId, cookie: false } });
  const switched = async (by: Person, accountId = at.ann.account_id): Promise<Person> => ({
    ...((await (await switchTo(by, accountId)).json()) as Person),
    email: by.email,
  });
  // Somebody who has joined Ann's organisation and works in it.
  const join = async (email: string, role?: string): Promise<Person> => {
    const token = await invited(email, role);
    const person = await signUp(email);
    expect((await accept(person, token)).status).toBe(200);
    return switched(person);
  };
  const userOf = async (person: Person): Promise<string> =>
    (
      (await (await at.fixture.call('GET', '/v1/me', { as: person.access_token })).json()) as {
        userId: string;
      }
    ).userId;
  const members = async (by = at.ann) => {
    const answer = await at.fixture.call('GET', '/v1/members', { as: by.access_token });
    const { data } = (await answer.json()) as { data: { email: string; role: string }[] };
    return Object.fromEntries(data.map(one => [one.email, one.role]));
  };
  const change = (by: Person, userId: string, role: string) =>
    at.fixture.call('PATCH', `/v1/members/${userId}`, { as: by.access_token, send: { role } });
  const remove = (by: Person, userId: string) =>
    at.fixture.call('DELETE', `/v1/members/${userId}`, { as: by.access_token });
  const statusOf = async (person: Person, path = '/v1/organisation') =>
    (await at.fixture.call('GET', path, { as: person.access_token })).status;

  return {
    at,
    signUp,
    logIn,
    invite,
    invited,
    accept,
    switchTo,
    switched,
    join,
    userOf,
    members,
    change,
    remove,
    statusOf,
  };
}
