import '@stak/inbox-react/styles.css';
import './portal.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { session, useSession } from './session.ts';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';

const queries = new QueryClient({
  defaultOptions: { queries: { retry: 1, staleTime: 5_000, refetchOnWindowFocus: true } },
});

function App() {
  const now = useSession();
  if (now.state === 'signed-in') return <Shell by={now.by} />;
  if (now.state === 'signed-out') {
    queries.clear(); // nothing of the person before stays for the next one
    return <SignIn link={now.link} invitation={now.invitation} />;
  }
  return (
    <main className="alone">
      <p role="status">
        {now.state === 'expired'
          ? 'You have been signed out. Open this page again from where you came.'
          : 'Loading…'}
      </p>
    </main>
  );
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
void session.start();
