// Vectors of a length of one, made from a seed. `clustered` ones are like embeddings of texts: a vector is a topic, one
// of 100, plus a subject within it, one of 2,000 in all, plus noise of its own, in equal parts. Topics, subjects and
// noise are normally distributed, so the nearest neighbours of a vector have its subject, and which of those they are is
// the noise alone. `uniform` ones are noise alone: every two are about as far from each other, which is the worst case.

export type Data = 'clustered' | 'uniform';

const topics = 100;
const subjects = 2000;

export function createVectorsOf(data: Data, dimensions: number): () => Float32Array {
  const random = createRandom(data === 'clustered' ? 7 : 11);
  const noise = () => {
    const vector = new Float32Array(dimensions);
    for (let i = 0; i < dimensions; i += 2) {
      // Two independent normal numbers, by the method of Box and Muller.
      const radius = Math.sqrt(-2 * Math.log(1 - random()));
      const angle = 2 * Math.PI * random();
      vector[i] = radius * Math.cos(angle);
      vector[i + 1] = radius * Math.sin(angle);
    }
    return vector;
  };
  const ofTopics = data === 'clustered' ? Array.from({ length: topics }, noise) : [];
  const ofSubjects = data === 'clustered' ? Array.from({ length: subjects }, noise) : [];
  return () => {
    const vector = noise();
    if (data === 'clustered') {
      const subject = Math.floor(random() * subjects);
      add(vector, ofSubjects[subject]!);
      add(vector, ofTopics[subject % topics]!);
    }
    const perLength = 1 / Math.sqrt(productOf(vector, vector));
    // As many digits as an API for embeddings sends.
    for (let i = 0; i < dimensions; i++) vector[i] = Math.round(vector[i]! * perLength * 1e7) / 1e7;
    return vector;
  };
}

/** Four sums at once take half of the time of one. The number of dimensions is a multiple of four. */
export function productOf(a: Float32Array, b: Float32Array): number {
  let [first, second, third, fourth] = [0, 0, 0, 0];
  for (let i = 0; i < a.length; i += 4) {
    first += a[i]! * b[i]!;
    second += a[i + 1]! * b[i + 1]!;
    third += a[i + 2]! * b[i + 2]!;
    fourth += a[i + 3]! * b[i + 3]!;
  }
  return first + second + third + fourth;
}

function add(to: Float32Array, from: Float32Array): void {
  for (let i = 0; i < to.length; i++) to[i] = to[i]! + from[i]!;
}

// Mulberry32.
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
