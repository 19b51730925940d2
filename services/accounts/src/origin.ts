// The origin of a request, as far as known.
export type Origin = { address?: string; userAgent?: string; requestId?: string };

// The part of a request's context that is needed for cookies and origins.
export type RequestPart = {
  req: { header(name: string): string | undefined };
  get(name: 'address' | 'requestId'): string | undefined;
};
export const originOf = (c: RequestPart): Origin => ({
  address: c.get('address'),
  userAgent: c.req.header('user-agent'),
  requestId: c.get('requestId'),
});
