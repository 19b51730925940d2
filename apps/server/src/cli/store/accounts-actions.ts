import { accountsTable, createAccounts, type PlanName, planNames, planOf } from '@stak/accounts';
import { createIds, createLogger, systemClock } from '@stak/kit';
import { createStore } from '@stak/table';
import { loadEnvFile, readServerConfig, type ServerConfig } from '../../config/config.ts';
import { UsageError } from '../../config/errors.ts';
import { readText } from '../../config/flags.ts';
import { refusingSealer } from '../../config/secrets.ts';
import type { Database } from '../../store/database.ts';
import { visitDatabase } from '../../store/visit.ts';
import type { FlagsOf } from '../action.ts';
import { printTable } from '../print.ts';
import type { options } from './accounts.ts';

type Flags = FlagsOf<typeof options>;

type OpenAccounts = {
  database: Database;
  config: ServerConfig;
  operators: ReturnType<typeof createAccounts>['operators'];
};
type Action = (opened: OpenAccounts, flags: Flags, who: string) => Promise<void>;

const withWho =
  (work: Action) =>
  (flags: Flags, who: string | undefined): Promise<void> => {
    if (who === undefined)
      throw new UsageError('which account? give an id or an e-mail address; see stak accounts list');
    return withOpened(flags, opened => work(opened, flags, who));
  };

export const actions = {
  list: (flags: Flags) => withOpened(flags, opened => list(opened, flags.json === true)),
  show: withWho(show),
  plan: withWho(async ({ operators }, flags, who) => {
    const { userId, email } = await operators.find(who);
    const plan = readPlan(flags.plan);
    await operators.setPlan(userId, plan);
    console.log(`${email} has the plan ${plan}, from the next minute on`);
  }),
  verify: withWho(async ({ operators }, _flags, who) => {
    const { userId, email } = await operators.find(who);
    await operators.verify(userId);
    console.log(`${email} is verified`);
  }),
  'reset-password': withWho(async ({ operators, config }, _flags, who) => {
    const { userId, email } = await operators.find(who);
    const token = await operators.issueReset(userId);
    const { publicUrl, host, port } = config;
    console.error(`Give this to the owner of ${email}. It works once, for an hour, and ends all sessions:`);
    console.log(`${publicUrl ?? `http://${host}:${port}`}/console/reset-password#token=${token}`);
  }),
  'remove-factor': withWho(async ({ operators }, _flags, who) => {
    const { userId, email } = await operators.find(who);
    await operators.removeFactor(userId);
    console.log(`${email} signs in with the password alone`);
  }),
  disable: withWho(async ({ operators }, _flags, who) => {
    const { userId, email } = await operators.find(who);
    await operators.disable(userId);
    console.log(`${email} can no longer sign in; undo it with stak accounts enable ${userId}`);
  }),
  enable: withWho(async ({ operators }, _flags, who) => {
    const { userId, email } = await operators.find(who);
    await operators.enable(userId);
    console.log(`${email} is let in again`);
  }),
};

type Row = {
  userId: string;
  email: string;
  emailVerified?: boolean;
  plan: PlanName;
  planFixed?: boolean;
  createdAt: string;
  disabledAt?: string;
  deletingAt?: string;
};

async function list({ database: { client }, config }: OpenAccounts, asJson: boolean): Promise<void> {
  const rows: ReturnType<typeof shown>[] = [];
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const page = await client.scan({
      TableName: accountsTable.name,
      ExclusiveStartKey,
      FilterExpression: 'SK = :profile',
      ExpressionAttributeValues: { ':profile': 'PROFILE' },
    });
    for (const item of page.Items ?? []) rows.push(shown(item as Row, config));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  rows.sort((row, other) => (row.createdAt < other.createdAt ? -1 : 1));
  if (asJson) return console.log(JSON.stringify(rows, null, 2));
  printTable(
    [
      ['id', 'e-mail', 'plan', 'state', 'since'],
      ...rows.map(row => [row.userId, row.email, row.plan, row.state, row.createdAt.slice(0, 10)]),
    ],
    'There are no accounts yet.',
  );
}

async function show({ operators, config }: OpenAccounts, flags: Flags, who: string): Promise<void> {
  const user = await operators.find(who);
  const row = {
    ...shown(user, config),
    name: user.name,
    hasPassword: user.passwordHash !== undefined,
    github: user.githubId ?? null,
    google: user.googleId ?? null,
    updatedAt: user.updatedAt,
  };
  if (flags.json === true) return console.log(JSON.stringify(row, null, 2));
  printTable(Object.entries(row).map(([name, value]) => [name, String(value ?? '')]));
}

const shown = (row: Row, { defaultPlan }: ServerConfig) => ({
  userId: row.userId,
  email: row.email,
  plan: planOf(row, defaultPlan),
  state: stateOf(row),
  createdAt: row.createdAt,
});

function stateOf({ deletingAt, disabledAt, emailVerified }: Row): string {
  if (deletingAt !== undefined) return 'being deleted';
  if (disabledAt !== undefined) return 'disabled';
  return emailVerified ? 'verified' : 'unverified';
}

function readPlan(value: unknown): PlanName {
  const plan = planNames.find(name => name === readText('--plan', value));
  if (plan !== undefined) return plan;
  throw new UsageError(`--plan needs one of ${planNames.join(', ')}`);
}

async function withOpened(flags: Flags, work: (opened: OpenAccounts) => Promise<void>): Promise<void> {
  loadEnvFile();
  const config = readServerConfig({ path: flags.path });
  await visitDatabase(config.store, 'there are no accounts here: no server has ever run', async database => {
    const clock = systemClock;
    const { operators } = createAccounts({
      store: createStore({ client: database.client, clock }),
      clock,
      ids: createIds({ clock }),
      log: createLogger({ level: 'silent' }),
      sealer: refusingSealer, // what operators do needs no secret
      publicUrl: 'http://localhost', // signs nothing here
    });
    await work({ database, config, operators });
  });
}
