// The one loop that a search by codes spends its time in, for the instructions that handle 16 numbers at once, which
// JavaScript has only in WebAssembly. The program is below, an instruction a line, and becomes a module when the first
// search needs it.
//
//   dots(query, codes, count, stride, sums)
//
// `codes` are `count` vectors of `stride` signed bytes, a multiple of 16; `query` is one of as many signed 16-bit
// integers; `sums` gets the dot product of each with the query, as 32-bit integers. All are addresses in the memory.
// The caller keeps sums within 32 bits.

const parameters = ['query', 'codes', 'count', 'stride', 'sums'];
const numbers = ['at', 'end'];
const vectors = ['total', 'code'];

const program = `
loop
  v128.zero
  local.set total
  local.get query
  local.set at
  local.get codes
  local.get stride
  i32.add
  local.set end
  loop
    local.get codes
    v128.load 0
    local.set code
    local.get total
    local.get code
    i16x8.extend_low_i8x16_s
    local.get at
    v128.load 0
    i32x4.dot_i16x8_s
    i32x4.add
    local.get code
    i16x8.extend_high_i8x16_s
    local.get at
    v128.load 16
    i32x4.dot_i16x8_s
    i32x4.add
    local.set total
    local.get at
    i32.const 32
    i32.add
    local.set at
    local.get codes
    i32.const 16
    i32.add
    local.tee codes
    local.get end
    i32.lt_u
    br_if 0
  end
  local.get sums
  local.get total
  i32x4.extract_lane 0
  local.get total
  i32x4.extract_lane 1
  i32.add
  local.get total
  i32x4.extract_lane 2
  i32.add
  local.get total
  i32x4.extract_lane 3
  i32.add
  i32.store
  local.get sums
  i32.const 4
  i32.add
  local.set sums
  local.get count
  i32.const 1
  i32.sub
  local.tee count
  br_if 0
end
end
`;

// https://webassembly.github.io/spec/core/binary/instructions.html
const simd = 0xfd;
const instructions: { [name: string]: readonly number[] } = {
  loop: [0x03, 0x40],
  end: [0x0b],
  br_if: [0x0d],
  'local.get': [0x20],
  'local.set': [0x21],
  'local.tee': [0x22],
  'i32.const': [0x41],
  'i32.lt_u': [0x49],
  'i32.add': [0x6a],
  'i32.sub': [0x6b],
  'i32.store': [0x36, 2, 0], // aligned to four bytes, without an offset
  'v128.load': [simd, 0x00, 4], // aligned to 16 bytes; the offset follows
  'v128.zero': [simd, 0x0c, ...Array<number>(16).fill(0)],
  'i32x4.extract_lane': [simd, 0x1b],
  'i16x8.extend_low_i8x16_s': [simd, 0x87, 0x01],
  'i16x8.extend_high_i8x16_s': [simd, 0x88, 0x01],
  'i32x4.add': [simd, 0xae, 0x01],
  'i32x4.dot_i16x8_s': [simd, 0xba, 0x01],
};

const i32 = 0x7f;
const v128 = 0x7b;

// No number in the program or in the lengths of its parts needs more than seven bits, or two bytes of them.
const length = (count: number): number[] => (count < 0x80 ? [count] : [(count & 0x7f) | 0x80, count >> 7]);
const section = (id: number, content: readonly number[]): number[] => [
  id,
  ...length(content.length),
  ...content,
];
const name = (text: string): number[] => [text.length, ...Buffer.from(text)];

function assemble(): number[] {
  const locals = [...parameters, ...numbers, ...vectors];
  return program
    .trim()
    .split('\n')
    .flatMap(line => {
      const [instruction, operand] = line.trim().split(' ') as [string, string?];
      if (operand === undefined) return [...instructions[instruction]!];
      const local = locals.indexOf(operand);
      return [...instructions[instruction]!, local < 0 ? Number(operand) : local];
    });
}

function moduleBytes(): Uint8Array {
  const body = [2, numbers.length, i32, vectors.length, v128, ...assemble()];
  return new Uint8Array([
    ...Buffer.from('\0asm'),
    ...[1, 0, 0, 0],
    ...section(1, [1, 0x60, parameters.length, ...parameters.map(() => i32), 0]),
    ...section(2, [1, ...name('vectors'), ...name('memory'), 2, 0, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...name('dots'), 0, 0]),
    ...section(10, [1, ...length(body.length), ...body]),
  ]);
}

export type Dots = (query: number, codes: number, count: number, stride: number, sums: number) => void;
export type Memory = { readonly buffer: ArrayBuffer };

// The types of Node do not have these.
type Assembly = {
  Memory: new (size: {
    initial: number;
  }) => Memory; // in pages of 64 KiB
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: { dots: Dots } };
};
const assembly = (): Assembly => (globalThis as unknown as { WebAssembly: Assembly }).WebAssembly;

export const createMemory = (pages: number): Memory => new (assembly().Memory)({ initial: pages });

let compiled: object | undefined;

/** The module, which a thread can be given. */
export function kernelModule(): object {
  compiled ??= new (assembly().Module)(moduleBytes());
  return compiled;
}

export const dotsIn = (memory: Memory): Dots =>
  new (assembly().Instance)(kernelModule(), { vectors: { memory } }).exports.dots;
