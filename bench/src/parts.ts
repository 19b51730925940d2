// Which parts of a bench `--only` leaves; all of them if it says nothing.
export function chooseParts<Part extends string>(all: readonly Part[], only: readonly string[]): Part[] {
  if (only.some(name => !all.includes(name as Part))) throw new Error(`--only knows ${all.join(', ')}`);
  return all.filter(part => only.length === 0 || only.includes(part));
}
