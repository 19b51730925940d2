// Chunks of a result as an Arrow IPC stream. Runs in DuckDB's process, so it is plain JavaScript. Buffers are filled
// here because Arrow's own builders support times only to the millisecond.
import { DuckDBTypeId as duck, JsonDuckDBValueConverter } from '@duckdb/node-api';
import * as arrow from 'apache-arrow';

const identity = value => value;
const fixed = (type, Values, read = identity) => ({ type, Values, read });

// Everything else becomes text: types that Arrow does not have, and nested values as JSON.
const fixedTypes = new Map([
  [duck.TINYINT, fixed(new arrow.Int8(), Int8Array)],
  [duck.SMALLINT, fixed(new arrow.Int16(), Int16Array)],
  [duck.INTEGER, fixed(new arrow.Int32(), Int32Array)],
  [duck.BIGINT, fixed(new arrow.Int64(), BigInt64Array)],
  [duck.UTINYINT, fixed(new arrow.Uint8(), Uint8Array)],
  [duck.USMALLINT, fixed(new arrow.Uint16(), Uint16Array)],
  [duck.UINTEGER, fixed(new arrow.Uint32(), Uint32Array)],
  [duck.UBIGINT, fixed(new arrow.Uint64(), BigUint64Array)],
  [duck.FLOAT, fixed(new arrow.Float32(), Float32Array)],
  [duck.DOUBLE, fixed(new arrow.Float64(), Float64Array)],
  [duck.DATE, fixed(new arrow.DateDay(), Int32Array, ({ days }) => days)],
  [duck.TIMESTAMP, fixed(new arrow.TimestampMicrosecond(), BigInt64Array, ({ micros }) => micros)],
  [duck.TIMESTAMP_TZ, fixed(new arrow.TimestampMicrosecond('UTC'), BigInt64Array, ({ micros }) => micros)],
]);

const encodings = type => {
  const known = fixedTypes.get(type.typeId);
  if (known) return { type: known.type, encode: values => encodeFixed(known, values) };
  if (type.typeId === duck.BOOLEAN) return { type: new arrow.Bool(), encode: encodeBooleans };
  if (type.typeId === duck.DECIMAL) return decimals(type);
  if (type.typeId === duck.BLOB)
    return { type: new arrow.Binary(), encode: values => encodeBytes(new arrow.Binary(), values, blobBytes) };
  return { type: new arrow.Utf8(), encode: values => encodeBytes(new arrow.Utf8(), values, textOf(type)) };
};

const blobBytes = ({ bytes }) => bytes;
const textOf = type => value => {
  const plain = JsonDuckDBValueConverter(value, type, JsonDuckDBValueConverter);
  return Buffer.from(typeof plain === 'string' ? plain : JSON.stringify(plain));
};

function validity(values) {
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 8));
  let nullCount = 0;
  for (const [i, value] of values.entries())
    if (value === null) nullCount += 1;
    else nullBitmap[i >> 3] |= 1 << (i & 7);
  return { length: values.length, nullCount, nullBitmap };
}

function encodeFixed({ type, Values, read }, values) {
  const data = new Values(values.length);
  for (const [i, value] of values.entries()) if (value !== null) data[i] = read(value);
  return arrow.makeData({ type, ...validity(values), data });
}

function encodeBooleans(values) {
  const data = new Uint8Array(Math.ceil(values.length / 8));
  for (const [i, value] of values.entries()) if (value === true) data[i >> 3] |= 1 << (i & 7);
  return arrow.makeData({ type: new arrow.Bool(), ...validity(values), data });
}

function decimals({ width, scale }) {
  const type = new arrow.Decimal(scale, width);
  const encode = values => {
    const words = new BigUint64Array(values.length * 2);
    for (const [i, value] of values.entries()) {
      if (value === null) continue;
      words[2 * i] = BigInt.asUintN(64, value.value);
      words[2 * i + 1] = BigInt.asUintN(64, value.value >> 64n);
    }
    return arrow.makeData({ type, ...validity(values), data: new Uint32Array(words.buffer) });
  };
  return { type, encode };
}

function encodeBytes(type, values, bytesOf) {
  const pieces = values.map(value => (value === null ? Buffer.alloc(0) : bytesOf(value)));
  const valueOffsets = new Int32Array(values.length + 1);
  for (const [i, piece] of pieces.entries()) valueOffsets[i + 1] = valueOffsets[i] + piece.length;
  return arrow.makeData({ type, ...validity(values), valueOffsets, data: Buffer.concat(pieces) });
}

/** Writes columns chunk by chunk: `add` takes the values of each column. */
export function createArrowWriter(names, types) {
  const columns = types.map(encodings);
  const schema = new arrow.Schema(columns.map(({ type }, i) => new arrow.Field(names[i], type, true)));
  const writer = new arrow.RecordBatchStreamWriter();
  writer.reset(undefined, schema);
  return {
    add(values) {
      const children = columns.map(({ encode }, i) => encode(values[i]));
      const length = values[0].length;
      writer.write(
        new arrow.RecordBatch(
          schema,
          arrow.makeData({ type: new arrow.Struct(schema.fields), length, nullCount: 0, children }),
        ),
      );
    },
    finish() {
      writer.finish();
      return writer.toUint8Array(true);
    },
  };
}
