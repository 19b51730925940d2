import type MiniSearch from 'minisearch';
import type { Query, SearchResult } from 'minisearch';

// Other words for what the pages say.
const synonyms: Readonly<Record<string, readonly string[]>> = {
  '2fa': ['second factor'],
  mfa: ['second factor'],
  authenticator: ['second factor'],
  docker: ['one machine', 'image'],
  k8s: ['kubernetes'],
  embed: ['frame', 'react components'],
  idempotency: ['doing once'],
  idempotent: ['doing once'],
  duplicate: ['doing once', 'repetition'],
  install: ['start'],
  invite: ['invitation'],
  login: ['sign in'],
  pagination: ['lists cursor'],
  paging: ['lists cursor'],
  postgres: ['postgresql'],
  pricing: ['plans'],
  python: ['any libraries'],
  resend: ['replay'],
  saml: ['single sign-on'],
  oidc: ['single sign-on', 'openid'],
  sso: ['single sign-on'],
  throttling: ['rate limits'],
  secret: ['signature'],
  timeout: ['ten seconds'],
  backoff: ['retries'],
  hmac: ['signature'],
  replay: ['repeat'],
};

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? [];

// Each word, or what the pages call it.
const queryOf = (words: readonly string[], combineWith: 'AND' | 'OR'): Query => ({
  combineWith,
  queries: words.map(word => ({
    combineWith: 'OR' as const,
    queries: [
      word,
      ...(synonyms[word] ?? []).map(other => ({ combineWith: 'AND' as const, queries: other.split(' ') })),
    ],
  })),
});

/**
 * The sections that answer a question, best first. Guides and the reference say what to do, so they come before the pages
 * that say why: designs and decisions.
 */
export function searchPages(index: MiniSearch, text: string): SearchResult[] {
  const words = wordsOf(text);
  if (words.length === 0) return [];
  const strict = index.search(queryOf(words, 'AND'));
  const isGuide = ({ isDesign }: SearchResult) => !isDesign;
  // A question with a word that no guide has is still a question about the others.
  const guides = strict.some(isGuide)
    ? strict.filter(isGuide)
    : index.search(queryOf(words, 'OR'), { filter: isGuide });
  return [...guides, ...strict.filter(one => !isGuide(one))];
}
