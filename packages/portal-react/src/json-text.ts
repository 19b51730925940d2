const indentedChars = 2000; // indentation grows with the square of the depth

/** What a model wants to call a skill with, as a person reads it. */
export function jsonText(value: unknown): string {
  try {
    const plain = JSON.stringify(value) ?? '';
    return plain.length > indentedChars ? plain : JSON.stringify(value, null, 2);
  } catch {
    return 'This is nested too deep to be shown.';
  }
}
