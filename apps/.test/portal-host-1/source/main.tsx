import { Chat, PortalProvider, Tasks } from '@stak/portal-react';
import '@stak/inbox-react/styles.css';
import '@stak/portal-react/styles.css';
import { createRoot } from 'react-dom/client';

// Your backend mints it. It is called again when a token is refused.
const token = () => fetch('/stak-token').then(answer => answer.text());

createRoot(document.getElementById('root')!).render(
  <PortalProvider baseUrl="http://127.0.0.1:41205" tenant="shop-1" token={token}>
    <h1>Your orders</h1>
    <Tasks />
    <Chat />
  </PortalProvider>,
);
