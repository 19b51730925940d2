// Answered only by a server on this machine that has a demo workspace.
export async function readDemo(): Promise<{ email: string; newestMail?: string } | null> {
  const answer = await fetch('/console/demo.json');
  return answer.ok ? ((await answer.json()) as { email: string; newestMail?: string }) : null;
}
