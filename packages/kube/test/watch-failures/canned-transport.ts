import type { StreamHandler, Transport, TransportRequest } from '../../src/transport.ts';

/** Answers every request from a function: for sets too large to serve one by one. `undefined` leaves the answer open. */
export function cannedTransport(
  answer: (request: TransportRequest) => readonly Buffer[] | undefined,
): Transport & { readonly requests: string[]; readonly handlers: StreamHandler[] } {
  const requests: string[] = [];
  const handlers: StreamHandler[] = [];
  return {
    requests,
    handlers,
    open(request, handler) {
      requests.push(request.path);
      handlers.push(handler);
      let open = true;
      setImmediate(() => {
        if (!open) return;
        handler.head(200, {});
        const chunks = answer(request);
        if (chunks === undefined) return;
        for (const chunk of chunks) if (open) handler.data(chunk);
        if (open) handler.end();
      });
      return {
        abort: () => {
          open = false;
        },
      };
    },
    send: () => Promise.reject(new Error('not used')),
    close: async () => {},
  };
}
