import { parentPort, workerData } from 'node:worker_threads';

// Sorts the codes of a partition into cells, in a thread of its own. First it is given centroids, or a sample in which it
// finds them (k-means); then all codes, a block at a time, of which it answers those that fill a block of a cell; last the
// rest. A message is `{ centroids }`, `{ sample }`, `{ train }`, `{ sort }` or `{ finish }`, and each is answered.

const { kernel, stride, filters, capacity, cells, rounds } = workerData;
const queryBytes = 2 * stride;
const sumBytes = 4 * cells;
const codesAt = Math.ceil((queryBytes + sumBytes) / 16) * 16;
const memory = new WebAssembly.Memory({ initial: Math.ceil((codesAt + cells * stride) / 65_536) });
const { dots } = new WebAssembly.Instance(kernel, { vectors: { memory } }).exports;
const query = new Int16Array(memory.buffer, 0, stride);
const sums = new Int32Array(memory.buffer, queryBytes, cells);
const centroidCodes = new Int8Array(memory.buffer, codesAt, cells * stride);
const centroidFactors = new Float32Array(cells);
const centroidOffsets = new Float32Array(cells);

function setCentroids(blocks) {
  let from = 0;
  for (const { codes, factors } of blocks) {
    centroidCodes.set(codes, from * stride);
    centroidFactors.set(factors, from);
    from += factors.length;
  }
  for (let cell = 0; cell < cells; cell++) {
    let square = 0;
    for (let i = cell * stride; i < (cell + 1) * stride; i++) square += centroidCodes[i] * centroidCodes[i];
    centroidOffsets[cell] = -(square * centroidFactors[cell] * centroidFactors[cell]) / 2;
  }
}

const sample = { count: 0, codes: [], factors: [] };

function addSample({ codes, factors }) {
  sample.codes.push(codes);
  sample.factors.push(factors);
  sample.count += factors.length;
}

// The centroid that is nearest to a code. All are compared at once.
function nearestCell(codes, at, factor) {
  query.set(codes.subarray(at * stride, (at + 1) * stride));
  dots(0, codesAt, cells, stride, queryBytes);
  let best = 0;
  let most = Number.NEGATIVE_INFINITY;
  for (let cell = 0; cell < cells; cell++) {
    const rank = sums[cell] * factor * centroidFactors[cell] + centroidOffsets[cell];
    if (rank > most) {
      most = rank;
      best = cell;
    }
  }
  return best;
}

// A small generator, so that the same codes give the same cells.
let seed = 0x2545f491;
function random(below) {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return (seed >>> 0) % below;
}

function train() {
  const means = new Float32Array(cells * stride);
  const starts = [0];
  for (const { length } of sample.factors) starts.push(starts.at(-1) + length);
  const copySample = (cell, which) => {
    let part = 0;
    while (starts[part + 1] <= which) part += 1;
    const at = which - starts[part];
    const factor = sample.factors[part][at];
    for (let i = 0; i < stride; i++) means[cell * stride + i] = sample.codes[part][at * stride + i] * factor;
  };
  for (let cell = 0; cell < cells; cell++) copySample(cell, random(sample.count));
  for (let round = 0; round < rounds; round++) {
    encodeCentroids(means);
    const counts = new Uint32Array(cells);
    means.fill(0);
    sample.codes.forEach((codes, part) => {
      const factors = sample.factors[part];
      for (let at = 0; at < factors.length; at++) {
        const cell = nearestCell(codes, at, factors[at]);
        counts[cell] += 1;
        for (let i = 0, to = cell * stride, from = at * stride; i < stride; i++)
          means[to + i] += codes[from + i] * factors[at];
      }
    });
    for (let cell = 0; cell < cells; cell++) {
      if (counts[cell] === 0) copySample(cell, random(sample.count));
      else for (let i = 0; i < stride; i++) means[cell * stride + i] /= counts[cell];
    }
  }
  encodeCentroids(means);
  sample.codes = [];
  sample.factors = [];
  return {
    codes: centroidCodes.slice(),
    factors: centroidFactors.slice(),
    offsets: centroidOffsets.slice(),
  };
}

function encodeCentroids(means) {
  for (let cell = 0; cell < cells; cell++) {
    let most = 0;
    let square = 0;
    for (let i = cell * stride; i < (cell + 1) * stride; i++) {
      most = Math.max(most, Math.abs(means[i]));
      square += means[i] * means[i];
    }
    const step = most / 127;
    for (let i = cell * stride; i < (cell + 1) * stride; i++)
      centroidCodes[i] = step === 0 ? 0 : Math.round(means[i] / step);
    centroidFactors[cell] = step;
    centroidOffsets[cell] = -square / 2;
  }
}

const empty = count => ({
  numbers: new Float64Array(count),
  factors: new Float32Array(count),
  offsets: new Float32Array(count),
  filters: new Uint32Array(count * filters),
  codes: new Int8Array(count * stride),
});

const open = new Map(); // by cell: the block that is being filled
const sizes = new Map();

function sort(block) {
  const full = [];
  for (let at = 0; at < block.numbers.length; at++) {
    if (block.isLive[at] === 0) continue;
    const cell = nearestCell(block.codes, at, block.factors[at]);
    if (!open.has(cell)) open.set(cell, empty(capacity));
    const into = open.get(cell);
    const size = sizes.get(cell) ?? 0;
    into.numbers[size] = block.numbers[at];
    into.factors[size] = block.factors[at];
    into.offsets[size] = block.offsets[at];
    into.filters.set(block.filters.subarray(at * filters, (at + 1) * filters), size * filters);
    into.codes.set(block.codes.subarray(at * stride, (at + 1) * stride), size * stride);
    sizes.set(cell, size + 1);
    if (size + 1 < capacity) continue;
    full.push({ cell, codes: into });
    open.delete(cell);
    sizes.delete(cell);
  }
  return full;
}

const finish = () =>
  [...open].map(([cell, { numbers, factors, offsets, filters: digests, codes }]) => {
    const size = sizes.get(cell);
    return {
      cell,
      codes: {
        numbers: numbers.slice(0, size),
        factors: factors.slice(0, size),
        offsets: offsets.slice(0, size),
        filters: digests.slice(0, size * filters),
        codes: codes.slice(0, size * stride),
      },
    };
  });

parentPort.on('message', message => {
  if (message.centroids) parentPort.postMessage(setCentroids(message.centroids));
  else if (message.sample) parentPort.postMessage(addSample(message.sample));
  else if (message.train) parentPort.postMessage(train());
  else if (message.sort) parentPort.postMessage(sort(message.sort));
  else parentPort.postMessage(finish());
});
