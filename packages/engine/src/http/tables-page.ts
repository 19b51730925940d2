import type { IncomingHttpHeaders } from 'node:http';
import { DynamoError } from '../errors.ts';
import { deserialize } from '../validation/deserialize.ts';
import type { AttributeValue, Item } from '../values/attribute-value.ts';
import type { Answer, Executor } from './answer.ts';
import { isLocalHost } from './cors.ts';
import { serialize } from './serialize.ts';

// A page that shows the tables and their items, for a look during development. It only reads. Nobody signs in here, as
// nobody does at the server itself, so it is only for this machine or an address, where no page of another site can
// pass for it.

const itemsPerPage = 50;
const shownCharacters = 2000;

type Key = { AttributeName: string; KeyType: string };
type Table = {
  TableName: string;
  KeySchema: Key[];
  AttributeDefinitions: { AttributeName: string; AttributeType: 'S' | 'N' | 'B' }[];
  ItemCount: number;
  TableSizeBytes: number;
  GlobalSecondaryIndexes?: Index[];
  LocalSecondaryIndexes?: Index[];
  StreamSpecification?: { StreamViewType: string };
};
type Index = { IndexName: string; KeySchema: Key[] };
type Page = { Items: Item[]; LastEvaluatedKey?: Item };

export const isTablesPage = (url = '/'): boolean => /^\/tables(\/|\?|$)/.test(url);

export async function tablesPage(
  executor: Executor,
  url: string,
  headers: IncomingHttpHeaders,
): Promise<Answer> {
  if (!isLocalHost(headers.host))
    return answer(
      403,
      'Open this page by localhost or by an address',
      '<p>By another name it is not shown.</p>',
    );
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  try {
    const name = decodeURIComponent(pathname.split('/')[2] ?? '');
    if (name === '') return answer(200, 'Tables', await listTables(executor));
    return answer(200, name, await showTable(executor, name, searchParams));
  } catch (error) {
    if (error instanceof DynamoError && error.name === 'ResourceNotFoundException')
      return answer(404, 'Not found', '<p>There is no such table. <a href="/tables">All tables</a></p>');
    if (error instanceof DynamoError || error instanceof SyntaxError || error instanceof URIError)
      return answer(400, 'This cannot be shown', `<p>${escapeHtml(error.message)}</p>`);
    throw error;
  }
}

async function listTables(executor: Executor): Promise<string> {
  const rows: string[] = [];
  for (let last: string | undefined, isFirst = true; isFirst || last !== undefined; isFirst = false) {
    const input = last === undefined ? {} : { ExclusiveStartTableName: last };
    const page = (await executor.execute('ListTables', input)) as {
      TableNames: string[];
      LastEvaluatedTableName?: string;
    };
    for (const name of page.TableNames) rows.push(tableRow(await describe(executor, name)));
    last = page.LastEvaluatedTableName;
  }
  if (rows.length === 0) return '<p>There are no tables yet.</p>';
  return table(['Table', 'Key', 'Items', 'Bytes', 'Indexes', 'Stream'], rows);
}

const describe = async (executor: Executor, TableName: string): Promise<Table> =>
  ((await executor.execute('DescribeTable', { TableName })) as { Table: Table }).Table;

const indexesOf = (table: Table): Index[] => [
  ...(table.GlobalSecondaryIndexes ?? []),
  ...(table.LocalSecondaryIndexes ?? []),
];
const keyText = (keys: Key[]): string => keys.map(({ AttributeName }) => AttributeName).join(', ');

const tableRow = (table: Table): string =>
  row([
    `<a href="/tables/${encodeURIComponent(table.TableName)}">${escapeHtml(table.TableName)}</a>`,
    escapeHtml(keyText(table.KeySchema)),
    String(table.ItemCount),
    String(table.TableSizeBytes),
    escapeHtml(
      indexesOf(table)
        .map(({ IndexName }) => IndexName)
        .join(', '),
    ),
    escapeHtml(table.StreamSpecification?.StreamViewType ?? ''),
  ]);

async function showTable(executor: Executor, name: string, search: URLSearchParams): Promise<string> {
  const described = await describe(executor, name);
  const index = indexesOf(described).find(({ IndexName }) => IndexName === search.get('index'));
  const keys = (index ?? described).KeySchema;
  const partition = search.get('partition') ?? '';
  const page = await readPage(executor, described, { index, partition, after: search.get('after') });
  const names = [...new Set([...keys, ...described.KeySchema].map(({ AttributeName }) => AttributeName))];
  const rows = page.Items.map(item => itemRow(item, names));
  const link = new URLSearchParams({ ...(index && { index: index.IndexName }), partition });
  if (page.LastEvaluatedKey) link.set('after', encodeKey(page.LastEvaluatedKey));
  return [
    `<p><a href="/tables">All tables</a> · ${described.ItemCount} items</p>`,
    form(described, index, partition),
    rows.length > 0 ? table([...names.map(escapeHtml), 'Other attributes'], rows) : '<p>No items.</p>',
    page.LastEvaluatedKey ? `<p><a href="?${escapeHtml(link.toString())}">Next page</a></p>` : '',
  ].join('\n');
}

type ItemsToRead = { index: Index | undefined; partition: string; after: string | null };

async function readPage(
  executor: Executor,
  described: Table,
  { index, partition, after }: ItemsToRead,
): Promise<Page> {
  const [{ AttributeName: name }] = (index ?? described).KeySchema as [Key];
  const type = described.AttributeDefinitions.find(
    ({ AttributeName }) => AttributeName === name,
  )!.AttributeType;
  const value = type === 'B' ? { B: Buffer.from(partition, 'base64') } : { [type]: partition };
  const input = {
    TableName: described.TableName,
    Limit: itemsPerPage,
    ...(index && { IndexName: index.IndexName }),
    ...(after !== null && after !== '' && { ExclusiveStartKey: decodeKey(after) }),
    ...(partition !== '' && {
      KeyConditionExpression: '#partition = :partition',
      ExpressionAttributeNames: { '#partition': name },
      ExpressionAttributeValues: { ':partition': value },
    }),
  };
  return (await executor.execute(partition === '' ? 'Scan' : 'Query', input)) as Page;
}

const encodeKey = (key: Item): string => Buffer.from(JSON.stringify(serialize(key))).toString('base64url');

function decodeKey(text: string): Item {
  const ExclusiveStartKey = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown;
  return (deserialize('Scan', { ExclusiveStartKey }) as { ExclusiveStartKey: Item }).ExclusiveStartKey;
}

function form(described: Table, index: Index | undefined, partition: string): string {
  const option = (value: string, label: string, isChosen: boolean) =>
    `<option value="${escapeHtml(value)}"${isChosen ? ' selected' : ''}>${escapeHtml(label)}</option>`;
  const options = [
    option('', `the table (${keyText(described.KeySchema)})`, !index),
    ...indexesOf(described).map(one =>
      option(one.IndexName, `${one.IndexName} (${keyText(one.KeySchema)})`, one === index),
    ),
  ];
  return `<form><label>Read <select name="index">${options.join('')}</select></label>
<label>Partition <input name="partition" value="${escapeHtml(partition)}" placeholder="all"></label> <button>Show</button></form>`;
}

function itemRow(item: Item, names: readonly string[]): string {
  const others = Object.keys(item)
    .filter(name => !names.includes(name))
    .sort();
  const rest = others.map(name => `${JSON.stringify(name)}: ${valueText(item[name]!)}`).join(', ');
  return row([...names.map(name => cell(item[name] ? valueText(item[name]) : '')), cell(rest)]);
}

const cell = (text: string): string =>
  `<code>${escapeHtml(text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text)}</code>`;

// As JavaScript would write it: sets in angle brackets, binary in base64.
function valueText(value: AttributeValue): string {
  if ('S' in value) return JSON.stringify(value.S);
  if ('N' in value) return value.N;
  if ('B' in value) return binaryText(value.B);
  if ('BOOL' in value) return String(value.BOOL);
  if ('L' in value) return `[${value.L.map(valueText).join(', ')}]`;
  if ('SS' in value) return `<${value.SS.map(text => JSON.stringify(text)).join(', ')}>`;
  if ('NS' in value) return `<${value.NS.join(', ')}>`;
  if ('BS' in value) return `<${value.BS.map(binaryText).join(', ')}>`;
  if ('M' in value)
    return `{${Object.entries(value.M)
      .map(([name, one]) => `${JSON.stringify(name)}: ${valueText(one)}`)
      .join(', ')}}`;
  return 'null';
}

const binaryText = (bytes: Uint8Array): string => `base64 ${Buffer.from(bytes).toString('base64')}`;

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, character => entities[character]!);
const row = (cells: string[]): string => `<tr>${cells.map(one => `<td>${one}</td>`).join('')}</tr>`;
const table = (head: string[], rows: string[]): string =>
  `<div><table><tr>${head.map(one => `<th>${one}</th>`).join('')}</tr>\n${rows.join('\n')}</table></div>`;

const style = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2rem}
div{overflow-x:auto}table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;
border-bottom:1px solid #8884}code{overflow-wrap:anywhere}form{margin:1rem 0}`;

function answer(status: number, title: string, content: string): Answer {
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)} · DynamoDB</title><style>${style}</style><h1>${escapeHtml(title)}</h1>\n${content}</html>\n`;
  return {
    status,
    type: 'text/html; charset=utf-8',
    body,
    headers: [
      'Content-Security-Policy',
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      'X-Content-Type-Options',
      'nosniff',
      'Referrer-Policy',
      'same-origin',
      'Cache-Control',
      'no-store',
    ],
  };
}
