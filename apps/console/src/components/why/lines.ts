/** The id of a thing for `GET /v1/why/{id}`. */
export const whyId = (kind: string, ...parts: (string | number)[]): string =>
  `${kind}:${parts.map(part => encodeURIComponent(part)).join('/')}`;

type Followed = { id: string | null; because_of: string };

/** How deep each line of the picture is: the chain goes down by one, and what followed is below its cause. */
export function depthsOf(chain: readonly unknown[], followed: readonly Followed[]): number[] {
  const depths = chain.map((_, at) => at);
  const below = chain.length; // of what the last of the chain has caused
  const known = new Map<string | null, number>();
  for (const { id, because_of } of followed) {
    const depth = (known.get(because_of) ?? below - 1) + 1;
    known.set(id, depth);
    depths.push(depth);
  }
  return depths;
}
