import '@stak/inbox-react/styles.css';
import './portal.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { session, useSession } from './session.ts';
import { Shell } from './shell.tsx';
import { doorKey, SignIn } from './sign-in.tsx';

const queries = new QueryClient({
  defaultOptions: { queries: { retry: 1, staleTime: 5_000, refetchOnWindowFocus: true } },
});

function App() {
  const now = useSession();
  const isOut = now.state === 'signed-out';
  // Nothing of the person before stays for the next one.
  useEffect(() => {
    if (isOut) queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== doorKey[0] });
  }, [isOut]);
  if (now.state === 'signed-in') return <Shell by={now.by} />;
  if (now.state === 'signed-out') return <SignIn {...now} />;
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
