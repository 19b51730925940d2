import { STATUS_CODES } from 'node:http';

export type Catalogue = { readonly statuses: Readonly<Record<string, number>> };
type Operation = {
  operationId?: string;
  responses?: Readonly<Record<string, { description: string; content?: object }>>;
};
export type Documented = { paths?: Readonly<Record<string, Readonly<Record<string, unknown>>>> };

// The page of all error codes. Which operation answers with which code is in the document.
export function errorsPage(
  catalogues: readonly Catalogue[],
  document: Documented,
  texts: Readonly<Record<string, string>>,
): string {
  const operations = operationsByCode(document);
  const statuses = new Map(catalogues.flatMap(({ statuses }) => Object.entries(statuses)));
  const rooms = [...new Set([...statuses.keys()].map(roomOf))].sort(
    (a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1),
  );
  const codesOf = (room: string) =>
    [...statuses.keys()].filter(code => roomOf(code) === room).sort(byStatus(statuses));
  return [
    '# Errors',
    '',
    'Generated from the catalogues by `npm run generate`. What an error looks like is in [the conventions](http.md#errors). Each code says what happened and what to do. A code never changes its meaning: write programs against it, not against the text.',
    '',
    ...rooms.flatMap(room => section(room, codesOf(room), statuses, operations, texts)),
  ].join('\n');
}

const roomOf = (code: string): string => code.split('.')[0]!;

// Errors that every route may answer come first, then the services.
const rankOf = (room: string): number => {
  const index = ['http', 'table', 'streams'].indexOf(room);
  return index < 0 ? 3 : index;
};

const byStatus = (statuses: ReadonlyMap<string, number>) => (a: string, b: string) =>
  statuses.get(a)! - statuses.get(b)! || (a < b ? -1 : 1);

function section(
  room: string,
  codes: readonly string[],
  statuses: ReadonlyMap<string, number>,
  operations: ReadonlyMap<string, readonly string[]>,
  texts: Readonly<Record<string, string>>,
): string[] {
  const isEverywhere = rankOf(room) < 3;
  const rows = codes.map(code => {
    const status = statuses.get(code)!;
    const by = listed(operations.get(code) ?? []);
    const text = texts[code] ?? '';
    return `| \`${code}\` | ${status} ${STATUS_CODES[status]} | ${text} |${isEverywhere ? '' : ` ${by} |`}`;
  });
  const head = isEverywhere
    ? ['| Code | Status | What it means, and what to do |', '|---|---|---|']
    : ['| Code | Status | What it means, and what to do | Answered by |', '|---|---|---|---|'];
  return [`## ${room}`, '', ...head, ...rows, ''];
}

// A tenant that is suspended is refused everywhere: nobody reads that list to its end.
function listed(ids: readonly string[]): string {
  const shown = ids
    .slice(0, ids.length > 6 ? 4 : 6)
    .map(id => `\`${id}\``)
    .join(', ');
  return ids.length > 6 ? `${shown} and ${ids.length - 4} more` : shown;
}

function operationsByCode({ paths = {} }: Documented): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const item of Object.values(paths))
    for (const operation of Object.values(item) as Operation[])
      for (const { description } of Object.values(operation.responses ?? {}))
        for (const [, code] of description.matchAll(/`([a-z]\w*(?:\.\w+)+)`/g))
          found.set(code!, [...(found.get(code!) ?? []), operation.operationId ?? '']);
  for (const ids of found.values()) ids.sort();
  return found;
}
