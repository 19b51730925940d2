// Vectors of a length of one, made from a seed. `clustered` ones are like embeddings of texts: a vector is a topic, one
// of 100, plus a subject within it, one of 2,000 in all, plus noise of its own, in equal parts. Topics, subjects and
// noise are normally distributed, so the nearest neighbours of a vector have its subject, and which of those they are is
// the noise alone. `uniform` ones are noise alone: every two are about as far from each other, which is the worst case.

export type Data = 'clustered' | 'uniform';

const topics = 100;
const subjects = 2000;

export function createVectorsOf(data: Data, dimensions: number): () => Float32Array {
  const random = createRandom(data === 'clustered' ? 7 : 11);
  const noise = () => Float32Array.from({ length: dimensions }, () => normal(random));
  const ofTopics = data === 'clustered' ? Array.from({ length: topics }, noise) : [];
  const ofSubjects = data === 'clustered' ? Array.from({ length: subjects }, noise) : [];
  return () => {
    const vector = noise();
    if (data === 'clustered') {
      const subject = Math.floor(random() * subjects);
      add(vector, ofSubjects[subject]!);
      add(vector, ofTopics[subject % topics]!);
    }
    const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    // As many digits as an API for embeddings sends.
    return vector.map(value => Number((value / length).toFixed(7)));
  };
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

const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
