import { CustomResourceDefinition, isConditionTrue, type Kind, type ObjectKey } from '@slipway/kube';
import type { EmitKey, EventSource, EventSourceContext } from '@slipway/runtime';

import { BtpOperator, ServiceBinding, ServiceInstance } from '../api.ts';

const view = 'btp-manager';

/**
 * Wakes a BtpOperator that is being deleted whenever a service instance or binding goes, so that the deletion goes on at once.
 * Their kinds come and go with the module: each is watched from when its definition is established until that is gone. A watch
 * of a kind nobody serves would fail for ever, and keep the process from being ready.
 */
export class ServiceResourceWatch implements EventSource {
  readonly name = 'service-resources';

  start(emit: EmitKey, context: EventSourceContext): () => void {
    const stops = [ServiceInstance, ServiceBinding].map((kind) => followKind(kind, emit, context));
    return () => stops.forEach((stop) => stop());
  }
}

function followKind(kind: Kind, emit: EmitKey, context: EventSourceContext): () => void {
  const { cache } = context.cluster;
  const wake = () =>
    void terminating(context).then(
      (keys) => keys.forEach((key) => emit(key)),
      (error: unknown) => context.log.warn('a deleted service resource was not noticed', { error }),
    );
  let stopInstances: (() => void) | undefined;
  const definitions = cache.informer(CustomResourceDefinition, {
    view: `${view}-${kind.plural}`,
    fieldSelector: `metadata.name=${kind.plural}.${kind.group}`,
    fields: ['status'],
  });
  const stopDefinition = definitions.onEvent((event) => {
    if (event.type === 'deleted') {
      stopInstances?.();
      stopInstances = undefined;
      cache.forget(kind, view);
      // Its objects went along, whether or not each was heard of.
      wake();
    } else if (!stopInstances && isConditionTrue(event.object as never, 'Established')) {
      stopInstances = cache.informer(kind, { metadataOnly: true, view }).onEvent(({ type }) => {
        if (type === 'deleted') wake();
      });
    }
  });
  return () => {
    stopDefinition();
    stopInstances?.();
  };
}

async function terminating({ cluster }: EventSourceContext): Promise<ObjectKey[]> {
  const all = await cluster.cache.list(BtpOperator);
  return all
    .filter((btp) => btp.metadata.deletionTimestamp !== undefined)
    .map(({ metadata }) => ({ namespace: metadata.namespace!, name: metadata.name! }));
}
