export const withCapital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Values of the API as the options of a select. */
export const choicesOf = (values: readonly string[]) =>
  values.map(value => ({ value, label: withCapital(value) }));
