const hexBytesMost = 16_384; // a browser lays out a thousand lines at once, not more

export function prettyOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// Sixteen bytes a line, as every other tool shows them.
export function hexOf(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, hexBytesMost); at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    const hex = row.map(byte => byte.toString(16).padStart(2, '0')).join(' ');
    const text = row.map(byte => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(47)}  ${text}`);
  }
  if (bytes.length > hexBytesMost) lines.push(`… and ${bytes.length - hexBytesMost} bytes more`);
  return lines.join('\n');
}
