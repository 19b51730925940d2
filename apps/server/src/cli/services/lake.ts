import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { CAC } from 'cac';
import { UsageError } from '../../config/errors.ts';
import { readText } from '../../config/flags.ts';
import { declareActions, loadConnection, runAction } from '../action.ts';
import type { ConnectFlags } from '../connection.ts';

type LakeFlags = ConnectFlags & { json?: unknown; days?: unknown; param?: unknown; to?: unknown };

const actions = { query, insight, status };

export function registerLake(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'lake <action> [text]', 'Your data in SQL, seconds old', {
    query: 'Ask with a SELECT in DuckDB\'s language; "show tables" says what there is',
    insight: 'Show an insight by name; without a name, list them',
    status: 'Show the lag of each table',
  })
    .option('--url <url>', 'The server (default: that of this folder, or the last one signed in to)')
    .option('--days <number>', 'insight: how many days back (default: 30)')
    .option('--param <name=value>', 'query: the value of $name or $1; can be repeated')
    .option('--to <file>', 'query: write the rows to a file that ends in .csv, .arrow or .parquet')
    .option('--json', 'Print JSON')
    .example('stak lake query "select status, count(*) from tasks group by 1"')
    .example('stak lake query "from tasks where status = ?" --param 1=pending --to tasks.parquet')
    .example('stak lake insight tasks-completed --days 7')
    .example('stak lake status')
    .action((action: string, text: string | undefined, flags: LakeFlags) =>
      runAction('lake', actions, action, flags, text),
    );
}

async function query(flags: LakeFlags, sql: string | undefined): Promise<void> {
  if (sql === undefined) throw new UsageError('which query? for example: stak lake query "show tables"');
  const { connect, printJson, printTable } = await loadConnection();
  const { client } = await connect(flags);
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
  const pairs = [given].flat().map(one => {
    const [, name, value] = /^(\w+)=(.*)$/s.exec(readText('--param', one)) ?? [];
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

async function insight(flags: LakeFlags, name: string | undefined): Promise<void> {
  const { connect, printJson, printTable } = await loadConnection();
  const { client } = await connect(flags);
  if (name === undefined) {
    const { data: list } = await client.insights.list();
    if (flags.json) return printJson(list.data);
    return printTable([['name', 'what'], ...list.data.map(one => [one.name, one.description])]);
  }
  const days = flags.days === undefined ? undefined : Number(flags.days);
  const { data } = await client.insights.read({ name, ...(days !== undefined && { days }) });
  if (flags.json) return printJson(data);
  const columns = Object.keys(data.data[0] ?? { nothing: '' });
  printTable([columns, ...data.data.map(row => columns.map(column => show(row[column])))]);
  printLag(data);
}

async function status(flags: LakeFlags): Promise<void> {
  const { connect, printJson, printTable } = await loadConnection();
  const { client } = await connect(flags);
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
