// Only a server on this machine that has made a demo workspace answers.
export async function readDemo(): Promise<{ email: string; newestMail?: string } | null> {
  const answer = await fetch('/console/demo.json');
  return answer.ok ? ((await answer.json()) as { email: string; newestMail?: string }) : null;
}
