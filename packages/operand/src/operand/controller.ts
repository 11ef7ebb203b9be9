import { ConfigMap, Secret, type CacheEvent, type DeepReadonly, type KubeObject, type ObjectKey } from '@slipway/kube';
import { AppliedMemo, groupOf, MemberWatch } from '@slipway/manifests';
import { controller, type Controller, type ReconcileContext } from '@slipway/runtime';

import { ClusterActiveOperand, Operand } from '../api.ts';
import { names } from '../names.ts';
import { finalizeOperand } from './finalize.ts';
import { operandMembership, reconcileOperand, type OperandSettings } from './reconcile.ts';

/** The controller of Operands: woken by the Operand, its sets, its members and its labelled sources. */
export function operandController(settings: OperandSettings = {}): Controller {
  const memo = new AppliedMemo();
  // Which Operand a membership label stands for; filled as Operands are reconciled.
  const byLabel = new Map<string, ObjectKey>();
  const members = new MemberWatch((event) =>
    Object.keys(event.meta.labels ?? {})
      .map((label) => byLabel.get(label))
      .filter((key) => key !== undefined),
  );
  const sourcesOf =
    (kind: 'ConfigMap' | 'Secret') =>
    async (event: CacheEvent, { cache }: { cache: ReconcileContext['cache'] }) => {
      const operands = await cache.list(Operand);
      return operands
        .filter((operand) =>
          operand.spec.steadyStateFrom?.some(
            (source) =>
              source.kind === kind && source.name === event.key.name && source.namespace === event.key.namespace,
          ),
        )
        .map((operand) => ({ name: operand.metadata.name! }));
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
      if (seen) {
        byLabel.set(operandMembership(key.name).label, key);
        members.follow(await memberKinds(context, seen));
      } else byLabel.delete(operandMembership(key.name).label);
      return await reconcileOperand(context, key, memo, settings);
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
