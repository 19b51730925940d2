import { type Mount, transportSecurity } from '@stak/http';
import type { PortalPage } from '@stak/tenants';
import { builtPages, createPageFiles } from './page-files.ts';

export type PortalSettings = {
  readPage(tenantId: string): Promise<PortalPage | undefined>; // of the tenant's settings; undefined if the tenant does not exist
  folder?: string; // of the built pages
  isHttps?: boolean;
};

// Only pages that the tenant names may show it, and it loads nothing from elsewhere but the tenant's logo. The settings
// allow only plain origins in this header.
function policyOf({ frameAncestors, logoOrigin }: PortalPage): string {
  const ancestors = frameAncestors.length > 0 ? frameAncestors.join(' ') : "'none'";
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    `img-src 'self' data:${logoOrigin === undefined ? '' : ` ${logoOrigin}`}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
  ].join('; ');
}

// The page for a tenant's users, at /portal/{tenant_id}. A tenant that does not exist has the same page, where signing
// in fails.
export function mountPortal({ mount }: { mount: Mount }, settings: PortalSettings): void {
  const { readPage, folder = builtPages('portal'), isHttps = false } = settings;
  const headers = transportSecurity({ isHttps });
  const files = createPageFiles(folder);

  const unguarded = 'everybody may see the page and its files';
  mount({ method: 'get', path: '/portal/assets/*', unguarded }, c => {
    const path = c.req.path.slice('/portal/'.length);
    const missing = 'File not found.';
    return files.isAsset(path)
      ? files.answer(c, path, { policy: '', headers, missing })
      : Promise.resolve(c.text(missing, 404, headers));
  });
  mount({ method: 'get', path: '/portal/:tenant_id/*', unguarded }, async c => {
    const chosen = await readPage(c.req.param('tenant_id')!);
    const policy = policyOf(chosen ?? { frameAncestors: [] });
    return files.answer(c, 'index.html', {
      policy,
      headers,
      missing: 'The portal is not built: npm start does.',
    });
  });
}
