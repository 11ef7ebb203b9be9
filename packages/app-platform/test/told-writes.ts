import type { KubeObject, Transport } from '@slipway/kube';

/** The same way to the server, on which every object that was written is told, in the order in which the writes were answered. */
export function tellingWrites(inner: Transport, tell: (object: KubeObject) => void): Transport {
  return {
    async send(request, signal) {
      const answer = await inner.send(request, signal);
      const isWrite = request.method !== 'GET' && request.method !== 'DELETE' && !request.path.includes('dryRun=All');
      if (isWrite && answer.status < 300) tell(JSON.parse(Buffer.from(answer.body).toString('utf8')) as KubeObject);
      return answer;
    },
    open: (request, handler) => inner.open(request, handler),
    close: () => inner.close(),
  };
}
