import type { CapacityEntry } from '../client/capacity.ts';
import { attributesOf } from './attribute-doc.ts';
import type { AnyEntity, IndexKeys } from './entity.ts';
import { type AccessPattern, patternsOf } from './pattern.ts';
import type { AnyTable, KeyNames } from './table.ts';

/** A table design as Markdown, generated from the design itself so that it cannot be out of date. */
export function designDoc(table: AnyTable, costs: readonly CapacityEntry[] = []): string {
  const sections = [
    `# ${table.name}`,
    table.description,
    tableFacts(table),
    '## Entities',
    markdownTable(
      ['Entity', 'Kind', ...keyHeads(table.keys)],
      table.entities.map(entity => [
        entity.name,
        entity.kind ? code(entity.kind) : '',
        ...keyCells(entity.key),
      ]),
    ),
    ...table.entities.map(entitySection),
    ...indexSections(table),
    '## Access patterns',
    patternTable(table, costs),
  ];
  return `${sections.filter(Boolean).join('\n\n')}\n`;
}

function tableFacts({ ttl, stream }: AnyTable): string {
  const facts = [
    'Billing: on demand.',
    ttl ? `Items expire by \`${ttl}\` (seconds since 1970).` : 'Items do not expire.',
    stream ? `Its stream carries \`${stream}\`.` : 'It has no stream.',
  ];
  return facts.join(' ');
}

function entitySection(entity: AnyEntity): string {
  const notes = [
    entity.description,
    entity.version && `Its \`${entity.version}\` is counted by every write.`,
    entity.inKeyOnly.length > 0 &&
      `In the key only, not stored as attributes: ${entity.inKeyOnly.map(code).join(', ')}.`,
  ];
  const text = notes.filter(Boolean).join(' ');
  const rows = attributesOf(entity).map(({ name, type, isOptional, description }) => [
    code(name),
    type,
    isOptional ? '' : 'yes',
    description,
  ]);
  return [`### ${entity.name}`, text, markdownTable(['Attribute', 'Type', 'Always there', ''], rows)]
    .filter(Boolean)
    .join('\n\n');
}

function indexSections(table: AnyTable): string[] {
  const indexes = Object.entries(table.indexes);
  if (indexes.length === 0) return [];
  return [
    '## Indexes',
    ...indexes.map(([name, index]) => {
      const users = table.entities.flatMap(entity => {
        const keys = entity.indexes.find(index => index.name === name);
        return keys ? [[entity.name, ...keyCells(keys)]] : [];
      });
      const { project = 'ALL' } = index;
      const projection = typeof project === 'string' ? `\`${project}\`` : project.map(code).join(', ');
      return `### ${name}\n\nProjection: ${projection}.\n\n${markdownTable(['Entity', ...keyHeads(index)], users)}`;
    }),
  ];
}

function patternTable(table: AnyTable, costs: readonly CapacityEntry[]): string {
  const costOf = new Map(costs.map(entry => [entry.pattern, entry]));
  const rows = patternsOf(table)
    .filter(({ name, kind }) => kind === 'query' || costs.length === 0 || costOf.has(name))
    .map(pattern => [
      pattern.name,
      pattern.index ? code(pattern.index) : '',
      conditionText(pattern),
      costText(costOf.get(pattern.name)),
    ]);
  return markdownTable(['Pattern', 'Index', 'Key condition', 'Measured'], rows);
}

// Averages of what the examples of the design cost.
function costText(entry: CapacityEntry | undefined): string {
  if (!entry || entry.calls === 0) return '';
  const parts = [
    entry.readUnits > 0 && `${round(entry.readUnits / entry.calls)} RCU`,
    entry.writeUnits > 0 && `${round(entry.writeUnits / entry.calls)} WCU`,
  ];
  return parts.filter(Boolean).join(', ');
}

const round = (units: number): string => String(Math.round(units * 100) / 100);

function conditionText({ conditions, notes }: AccessPattern): string {
  const parts = conditions.map(({ attribute, is, text }) =>
    is === '=' ? code(`${attribute} = ${text}`) : `${code(attribute)} ${is} ${code(text)}`,
  );
  return parts.join(', ') + (notes.length > 0 ? ` (${notes.join(', ')})` : '');
}

const keyHeads = ({ partition, sort }: KeyNames): string[] =>
  (sort === undefined ? [partition] : [partition, sort]).map(code);

const keyCells = ({ templates }: IndexKeys): string[] =>
  (templates.sort ? [templates.partition, templates.sort] : [templates.partition]).map(({ text }) =>
    code(text),
  );

const code = (text: string): string => `\`${text}\``;

// A bar would end the cell.
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}
