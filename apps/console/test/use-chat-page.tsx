import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { createRoot } from 'react-dom/client';

// A chat as an application would have it: the unmodified hook, the address of a conversation and a user's token.

const { api, token } = (window as unknown as { chat: { api: string; token: string } }).chat;

function Chat() {
  const { messages, sendMessage, status, error, addToolApprovalResponse } = useChat({
    id: 'chat',
    resume: true,
    transport: new DefaultChatTransport({ api, headers: { Authorization: `Bearer ${token}` } }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  return (
    <main>
      <output>{error ? `error: ${error.message}` : status}</output>
      <button type="button" onClick={() => sendMessage({ text: 'create task: buy milk' })}>
        Ask
      </button>
      <ol>
        {messages.flatMap(({ id, role, parts }) =>
          parts.map((part, i) => {
            const key = `${id} ${i}`;
            if (part.type === 'text') return <li key={key}>{`${role} said ${part.text}`}</li>;
            if (part.type !== 'dynamic-tool') return null;
            const asked = part.state === 'approval-requested' ? part.approval.id : undefined;
            return (
              <li key={key}>
                {`${part.toolName} ${JSON.stringify(part.input)} ${part.state}`}
                {asked !== undefined && (
                  <button
                    type="button"
                    onClick={() => addToolApprovalResponse({ id: asked, approved: true })}
                  >
                    Approve
                  </button>
                )}
              </li>
            );
          }),
        )}
      </ol>
    </main>
  );
}

createRoot(document.body).render(<Chat />);
