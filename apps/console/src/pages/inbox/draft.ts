// What is being written, as it stands in the fields.
export type Draft = {
  audience: 'users' | 'everyone';
  uids: string[];
  title: string;
  body: string;
  isJson: boolean;
  category: string;
  link: string;
  ttl: string;
  sendAt: string; // as a field for a local time has it
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

// What the server takes: fields that are empty are not said.
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
