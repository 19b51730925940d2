import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { UsageError } from '../../config/errors.ts';
import { readText } from '../../config/flags.ts';
import { connectLate, defineCommand, type FlagsOf, serverOption } from '../action.ts';

const actions = { query, insight, status };

const options = {
  ...serverOption,
  '--days <number>': 'insight: how many days back (default: 30)',
  '--param <name=value>': 'query: the value of $name or $1; can be repeated',
  '--to <file>': 'query: write the rows to a file that ends in .csv, .arrow or .parquet',
  '--json': 'Print JSON',
} as const;
type Flags = FlagsOf<typeof options>;

export const registerLake = defineCommand('lake <action> [text]', {
  title: 'Your data in SQL, seconds old',
  actions: {
    query: 'Ask with a SELECT in DuckDB\'s language; "show tables" says what there is',
    insight: 'Show an insight by name; without a name, list them',
    status: 'Show the lag of each table',
  },
  options,
  examples: [
    'stak lake query "select status, count(*) from tasks group by 1"',
    'stak lake query "from tasks where status = ?" --param 1=pending --to tasks.parquet',
    'stak lake insight tasks-completed --days 7',
    'stak lake status',
  ],
  load: async () => ({ actions }),
});

async function query(flags: Flags, sql: string | undefined): Promise<void> {
  if (sql === undefined) throw new UsageError('which query? for example: stak lake query "show tables"');
  const { client, printJson, printTable } = await connectLate(flags);
  const params = readParams(flags.param);
  const asked = { sql, ...(params && { params }) };
  if (flags.to !== undefined) {
    const file = readText('--to', flags.to);
    const { data, headers } = await client.lake.export({ body: { ...asked, format: formatOf(file) } });
    await writeFile(file, data);
    console.log(`${data.length} bytes in ${file}`);
    if (headers.get('stak-truncated') === 'true')
      console.error('The answer was truncated: there are more rows.');
    return;
  }
  const { data } = await client.lake.query({ body: asked });
  if (flags.json) return printJson(data);
  printTable([data.columns.map(column => column.name), ...data.rows.map(row => row.map(show))]);
  if (data.truncated) console.error('The answer was truncated: there are more rows.');
  printLag(data);
}

// Numbers, booleans and null are parsed; everything else, and quoted values, is text.
function readParams(given: unknown): Record<string, string | number | boolean | null> | undefined {
  if (given === undefined) return undefined;
  const pairs = [given].flat().map(pair => {
    const [, name, value] = /^(\w+)=(.*)$/s.exec(readText('--param', pair)) ?? [];
    if (name === undefined) throw new UsageError('--param needs a name and a value, like status=pending');
    return [name, readValue(value!)] as const;
  });
  return Object.fromEntries(pairs);
}

function readValue(text: string): string | number | boolean | null {
  if (/^(?:null|true|false|-?\d+(?:\.\d+)?|".*")$/s.test(text))
    try {
      return JSON.parse(text) as string | number | boolean | null;
    } catch {
      return text;
    }
  return text;
}

function formatOf(file: string): 'csv' | 'arrow' | 'parquet' {
  const ending = extname(file).slice(1);
  if (ending === 'csv' || ending === 'arrow' || ending === 'parquet') return ending;
  throw new UsageError('--to needs a file that ends in .csv, .arrow or .parquet');
}

async function insight(flags: Flags, name: string | undefined): Promise<void> {
  const { client, printJson, printTable } = await connectLate(flags);
  if (name === undefined) {
    const { data: list } = await client.insights.list();
    if (flags.json) return printJson(list.data);
    return printTable([['name', 'what'], ...list.data.map(table => [table.name, table.description])]);
  }
  const days = flags.days === undefined ? undefined : Number(flags.days);
  const { data } = await client.insights.read({ name, ...(days !== undefined && { days }) });
  if (flags.json) return printJson(data);
  const columns = Object.keys(data.data[0] ?? { nothing: '' });
  printTable([columns, ...data.data.map(row => columns.map(column => show(row[column])))]);
  printLag(data);
}

async function status(flags: Flags): Promise<void> {
  const { client, printJson, printTable } = await connectLate(flags);
  const { data } = await client.lake.status();
  if (flags.json) return printJson(data);
  const rows = data.tables.map(({ table, last_commit_at, backfill, lag_ms }) => [
    table,
    last_commit_at ?? 'never',
    backfill ? `being read: ${backfill.finished} of ${backfill.segments} parts` : `${lag_ms} ms`,
  ]);
  printTable([['table', 'last commit', 'behind'], ...rows]);
}

const show = (value: unknown): string =>
  value === null || value === undefined
    ? '–'
    : typeof value === 'object'
      ? plain(JSON.stringify(value))
      : plain(String(value));

// Text of users may contain terminal commands, and line breaks that would look like rows.
const plain = (text: string): string =>
  text.replace(/\p{Cc}/gu, character => `\\u{${character.codePointAt(0)!.toString(16)}}`);

const printLag = ({ as_of, lag_ms }: { as_of: string; lag_ms: number }): void =>
  console.error(`As of ${as_of}, ${lag_ms} ms behind.`);
