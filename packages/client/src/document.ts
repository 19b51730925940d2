import type { Schema } from './schema-type.ts';

// The parts of an OpenAPI document that the client needs.
export type Document = {
  paths?: Readonly<Record<string, object>>;
  components?: { schemas?: Readonly<Record<string, object>> };
};

type Media = { schema?: Schema; example?: unknown };
type Content = Readonly<Record<string, Media>>;
type Parameter = { name: string; in: string; required?: boolean; schema?: Schema; example?: unknown };
export type DocumentOperation = {
  operationId?: string;
  summary?: string;
  parameters?: readonly Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses?: Readonly<Record<string, { content?: Content }>>;
  'x-auth'?: string;
  'x-scope'?: string;
};
export type Entry = { id: string; method: string; path: string; operation: DocumentOperation };

const methods = ['get', 'post', 'put', 'patch', 'delete'];
const strangers = new Set(['public', 'provider']); // values of `x-auth` for routes without a token
const ours = new Set(['Idempotency-Key', 'If-Match', 'Last-Event-ID']); // headers that the client sets from its options

export function entriesOf(document: Document): Entry[] {
  const entries: Entry[] = [];
  for (const [path, item] of Object.entries(document.paths ?? {}))
    for (const method of methods) {
      const operation = (item as Partial<Record<string, DocumentOperation>>)[method];
      const id = operation?.operationId;
      if (operation && id) entries.push({ id, method, path, operation });
    }
  return entries.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Whether the client has a method for the operation: `group.name`. */
export const isCallable = ({ id }: Entry): boolean => /^[a-z]\w*\.[a-z]\w*$/.test(id);

/** Whether the operation needs no token. The client then sends none. */
export const isPublic = ({ operation }: Entry): boolean => strangers.has(operation['x-auth'] ?? '');

export const argumentsOf = ({ parameters = [] }: DocumentOperation): Parameter[] =>
  parameters.filter(parameter => parameter.in !== 'cookie' && !ours.has(parameter.name));

type FirstContent = [type: string, schema: Schema, example: unknown];

export const contentOf = (content: Content | undefined): FirstContent | undefined => {
  const [type, media] = Object.entries(content ?? {})[0] ?? [];
  return type === undefined ? undefined : [type, media?.schema ?? {}, media?.example];
};

export const isJson = (type: string): boolean => /^application\/([\w.-]+\+)?json$/.test(type);

export const successesOf = ({ responses = {} }: DocumentOperation): (FirstContent | undefined)[] =>
  Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => contentOf(content));
