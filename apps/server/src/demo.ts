export const prepareDemo = async (_: unknown): Promise<{ email: string; password: string } | undefined> =>
  undefined;
