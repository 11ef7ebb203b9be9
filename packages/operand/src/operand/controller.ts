import { ConfigMap, Secret, type CacheEvent, type DeepReadonly, type KubeObject } from '@slipway/kube';
import { AppliedMemo, groupOf, MemberWatch } from '@slipway/manifests';
import { controller, type Controller, type ReconcileContext } from '@slipway/runtime';

import { ClusterActiveOperand, Operand } from '../api.ts';
import { names } from '../names.ts';
import { finalizeOperand } from './finalize.ts';
import { MemberChanges } from './member-changes.ts';
import { reconcileOperand, type OperandSettings } from './reconcile.ts';

/** The controller of Operands: woken by the Operand, its sets, its members and its labelled sources. */
export function operandController(settings: OperandSettings = {}): Controller {
  const memo = new AppliedMemo();
  const changes = new MemberChanges();
  const members = new MemberWatch((event, kind) => changes.note(event, kind));
  const sourcesOf =
    (kind: 'ConfigMap' | 'Secret') =>
    async (event: CacheEvent, { cache }: { cache: ReconcileContext['cache'] }) => {
      const operands = await cache.list(Operand);
      const uses = (operand: DeepReadonly<Operand>) =>
        operand.spec.steadyStateFrom?.some(
          (source) =>
            source.kind === kind && source.name === event.key.name && source.namespace === event.key.namespace,
        );
      return operands.filter(uses).map((operand) => ({ name: operand.metadata.name! }));
    };
  return controller({
    name: 'operand',
    for: Operand,
    owns: [ClusterActiveOperand],
    watches: [
      {
        kind: ConfigMap,
        scope: { view: 'sources', metadataOnly: true, labelSelector: names.sourceLabel },
        map: sourcesOf('ConfigMap'),
      },
      {
        kind: Secret,
        scope: { view: 'sources', metadataOnly: true, labelSelector: names.sourceLabel },
        map: sourcesOf('Secret'),
      },
    ],
    sources: [members],
    concurrency: 4,
    finalize: { finalizer: names.operandFinalizer, run: finalizeOperand },
    async reconcile(context, key) {
      const seen = await context.cache.get(Operand, key);
      if (!seen) {
        changes.forget(key);
        return undefined;
      }
      members.follow(await memberKinds(context, seen));
      const knowledge = changes.of(key, seen.metadata.uid);
      return await reconcileOperand(context, key, { memo, members: knowledge }, settings);
    },
  });
}

async function memberKinds(context: ReconcileContext, operand: DeepReadonly<Operand>) {
  const objects = [
    ...(operand.spec.steadyState ?? []),
    ...(operand.spec.postInstall ?? []),
  ] as DeepReadonly<KubeObject>[];
  const wanted = new Map(
    objects
      .filter((object) => object.apiVersion && object.kind)
      .map((object) => [`${groupOf(object.apiVersion)}/${object.kind}`, object]),
  );
  const kinds = await Promise.all(
    [...wanted.values()].map((object) => context.client.resolve(object.apiVersion, object.kind).catch(() => undefined)),
  );
  return kinds.filter((kind) => kind !== undefined);
}
