// A tar file of few small files (POSIX ustar): https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html

const block = 512;

export const tarEnd = new Uint8Array(2 * block);

/** A file as an entry of a tar file. Names have fewer than 100 bytes. */
export function tarEntry(name: string, content: Uint8Array, modifiedMs: number): Uint8Array {
  const entry = Buffer.alloc(block + Math.ceil(content.length / block) * block); // each field ends with a zero
  const octal = (value: number, at: number, digits: number) =>
    entry.write(value.toString(8).padStart(digits, '0'), at, 'latin1');
  entry.write(name, 0, 99, 'utf8');
  octal(0o600, 100, 7);
  octal(0, 108, 7); // no owner: it belongs to the user who unpacks it
  octal(0, 116, 7);
  octal(content.length, 124, 11);
  octal(Math.floor(modifiedMs / 1000), 136, 11);
  entry.write('        0', 148, 'latin1'); // spaces while the checksum is computed; then the type: a file
  entry.write('ustar', 257, 'latin1');
  entry.write('00', 263, 'latin1');
  const sum = entry.subarray(0, block).reduce((total, byte) => total + byte, 0);
  octal(sum, 148, 6);
  entry[154] = 0;
  entry.set(content, block);
  return entry;
}
