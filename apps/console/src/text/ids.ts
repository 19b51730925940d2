const kinds = [
  ['event', /^evt_[0-9A-Za-z_-]+$/],
  ['source', /^src_[0-9A-Za-z_-]+$/],
  ['connection', /^con[a-z]*_[0-9A-Za-z_-]+$/],
  ['task', /^tsk_[0-9A-Za-z_-]+$/],
] as const;

/** The kind of thing an id belongs to, or undefined for any other text. */
export const kindOfId = (text: string): (typeof kinds)[number][0] | undefined =>
  kinds.find(([, shape]) => shape.test(text))?.[0];
