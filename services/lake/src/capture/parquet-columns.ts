import type { ParquetType, Statistics } from 'hyparquet';
import type { ByteWriter } from 'hyparquet-writer';

// Columns of text in Parquet's encodings. They are filled value by value, and used again after `end`.

export type PageValues = {
  type: ParquetType;
  bytes: Uint8Array; // valid until the next value is added
  levels?: Uint8Array; // of a nullable column: which values there are
  nulls?: number;
  dictionary?: { bytes: Uint8Array; count: number };
  statistics: Statistics;
};

type Encoding = {
  ByteWriter: typeof ByteWriter;
  writeRleBitPackedHybrid(writer: ByteWriter, values: number[], bitWidth: number): number;
};

// Without bounds if a value is not ASCII: JavaScript orders some texts differently from Parquet.
function createBounds() {
  let least: string | undefined;
  let most: string | undefined;
  let isAscii = true;
  return {
    add(value: string, isValueAscii: boolean): void {
      isAscii &&= isValueAscii;
      if (least === undefined || value < least) least = value;
      if (most === undefined || value > most) most = value;
    },
    end(): Pick<Statistics, 'min_value' | 'max_value'> {
      const bounds = isAscii ? { min_value: least, max_value: most } : {};
      [least, most, isAscii] = [undefined, undefined, true];
      return bounds;
    },
  };
}

// Values one after the other, each with its length before it. The memory is kept for the next page.
function createPlainTexts() {
  let bytes = Buffer.allocUnsafeSlow(16 * 1024);
  let end = 0;
  return {
    // Whether the text is ASCII, which is written at once.
    add(value: string): boolean {
      const size = Buffer.byteLength(value);
      if (end + 4 + size > bytes.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(2 * bytes.length, end + 4 + size));
        bytes.copy(larger, 0, 0, end);
        bytes = larger;
      }
      bytes.writeUInt32LE(size, end);
      const isAscii = size === value.length;
      bytes.write(value, end + 4, isAscii ? 'latin1' : 'utf8');
      end += 4 + size;
      return isAscii;
    },
    end(): Buffer {
      const page = bytes.subarray(0, end);
      end = 0;
      return page;
    },
  };
}

// A level for each value: 0 where there is none.
function createLevels({ ByteWriter, writeRleBitPackedHybrid }: Encoding) {
  let levels: number[] = [];
  let nulls = 0;
  return {
    add(isPresent: boolean): void {
      levels.push(isPresent ? 1 : 0);
      if (!isPresent) nulls += 1;
    },
    end(): { levels: Uint8Array; nulls: number } {
      const writer = new ByteWriter();
      writeRleBitPackedHybrid(writer, levels, 1);
      const ended = { levels: writer.getBytes(), nulls };
      levels = [];
      nulls = 0;
      return ended;
    },
  };
}

// Values that differ from row to row.
export function createTexts(encoding: Encoding, about: { nullable: boolean; hasBounds: boolean }) {
  const levels = about.nullable ? createLevels(encoding) : undefined;
  const bounds = about.hasBounds ? createBounds() : undefined;
  const plain = createPlainTexts();
  return {
    add(value: string | undefined): void {
      levels?.add(value !== undefined);
      if (value === undefined) return;
      const isAscii = plain.add(value);
      bounds?.add(value, isAscii);
    },
    end(): PageValues {
      const ended = levels?.end();
      const statistics = { ...bounds?.end(), null_count: BigInt(ended?.nulls ?? 0) };
      return { type: 'BYTE_ARRAY', bytes: plain.end(), ...ended, statistics };
    },
  };
}

// Values that repeat: each is written once, and rows have its number.
export function createChoices(encoding: Encoding, nullable: boolean) {
  const { ByteWriter, writeRleBitPackedHybrid } = encoding;
  const levels = nullable ? createLevels(encoding) : undefined;
  const bounds = createBounds();
  const plain = createPlainTexts();
  const numbers = new Map<string, number>();
  let rows: number[] = [];
  let last: string | undefined;
  let lastNumber = 0;

  function numberOf(value: string): number {
    const known = numbers.get(value);
    if (known !== undefined) return known;
    bounds.add(value, plain.add(value));
    numbers.set(value, numbers.size);
    return numbers.size - 1;
  }

  return {
    add(value: string | undefined): void {
      levels?.add(value !== undefined);
      if (value === undefined) return;
      if (value !== last) [last, lastNumber] = [value, numberOf(value)];
      rows.push(lastNumber);
    },
    end(): PageValues {
      const ended = levels?.end();
      const statistics = { ...bounds.end(), null_count: BigInt(ended?.nulls ?? 0) };
      const writer = new ByteWriter();
      const count = numbers.size;
      const dictionary = { bytes: plain.end(), count };
      if (count > 0) {
        const bits = Math.ceil(Math.log2(count));
        writer.appendUint8(bits);
        writeRleBitPackedHybrid(writer, rows, bits);
      }
      numbers.clear();
      [rows, last] = [[], undefined];
      const bytes = writer.getBytes();
      return { type: 'BYTE_ARRAY', bytes, ...ended, ...(count > 0 && { dictionary }), statistics };
    },
  };
}
