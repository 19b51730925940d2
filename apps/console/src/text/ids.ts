const kinds = [
  ['event', /^evt_[0-9a-z]+$/],
  ['source', /^src_[0-9a-z]+$/],
  ['connection', /^con[a-z]*_[0-9a-z]+$/],
  ['task', /^tsk_[0-9a-z]+$/],
] as const;

/** The kind of thing an id belongs to, or undefined for any other text. */
export const kindOfId = (text: string): (typeof kinds)[number][0] | undefined =>
  kinds.find(([, shape]) => shape.test(text))?.[0];
