// A bench of several parts. `Results` has a property for each; whatever was not run is missing.

// Which parts `--only` leaves; all of them if it says nothing.
export function chooseParts<Part extends string>(all: readonly Part[], only: readonly string[]): Part[] {
  if (only.some(name => !all.includes(name as Part))) throw new Error(`--only knows ${all.join(', ')}`);
  return all.filter(part => only.length === 0 || only.includes(part));
}

export async function runParts<Results extends object, Part extends keyof Results & string>(
  parts: readonly Part[],
  works: { [P in Part]: () => Promise<Results[P]> },
): Promise<Results> {
  const results: Partial<Results> = {};
  for (const part of parts) {
    console.log(`… ${part}`); // some of them take minutes
    results[part] = await works[part]();
  }
  return results as Results;
}
