// The values of the compose form.
export type Draft = {
  audience: 'users' | 'everyone';
  uids: string[];
  title: string;
  body: string;
  isJson: boolean;
  category: string;
  link: string;
  ttl: string;
  sendAt: string; // the value of a datetime-local field
};

export const emptyDraft: Draft = {
  audience: 'users',
  uids: [],
  title: '',
  body: '',
  isJson: false,
  category: '',
  link: '',
  ttl: '',
  sendAt: '',
};

// The fields of a template: neither the recipients nor the time.
const templateFields = ['title', 'body', 'isJson', 'category', 'link', 'ttl'] as const;

export const templateOf = (draft: Draft): string =>
  JSON.stringify(Object.fromEntries(templateFields.map(name => [name, draft[name]])));

/** The fields that a template fills. Stored templates are not trusted: values of another type are left out. */
export function draftOfTemplate(text: string): Partial<Draft> {
  const saved = parse(text);
  if (typeof saved !== 'object' || saved === null) return {};
  const fitting = Object.entries(saved).filter(
    ([name, value]) =>
      templateFields.some(field => field === name) && typeof value === typeof emptyDraft[name as keyof Draft],
  );
  return Object.fromEntries(fitting);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// The request body, without empty fields.
export function sendBody(draft: Draft) {
  const { title, category, link, ttl, sendAt } = draft;
  return {
    message: { title, body: bodyOf(draft), cta_uri: link || null },
    ...(category && { taxonomy: { category } }),
    ...(ttl && { ttl }),
    ...(sendAt && { send_at: Math.floor(new Date(sendAt).getTime() / 1000) }),
  };
}

function bodyOf({ body, isJson }: Draft): unknown {
  if (!isJson) return body;
  try {
    return JSON.parse(body);
  } catch {
    throw new Error('The text is not JSON. Look for a missing quote, comma or bracket.');
  }
}
