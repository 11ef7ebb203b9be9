import { ConfigMap, Secret, type DeepReadonly, type Kind } from '@slipway/kube';
import { AppliedMemo, MemberWatch } from '@slipway/manifests';
import { controller, type Controller, type Watch } from '@slipway/runtime';

import { ClusterActiveOperand, Operand } from '../api.ts';
import { names } from '../names.ts';
import { notStatusAlone } from '../wakes.ts';
import { finalizeOperand } from './finalize.ts';
import { MemberChanges, memberOf } from './member-changes.ts';
import { Obstacles } from './obstacles.ts';
import { reconcileOperand, type OperandSettings } from './reconcile.ts';

/** The controller of Operands: woken by the Operand, its sets, its members, its labelled sources and what stood in its way. */
export function operandController(settings: OperandSettings = {}): Controller {
  const memo = new AppliedMemo();
  const changes = new MemberChanges();
  const obstacles = new Obstacles();
  const watch = new MemberWatch((event, kind) => [
    ...changes.note(event, kind),
    ...obstacles.waitingFor(memberOf(event, kind)),
  ]);
  // With no rights of its own to read sources, the operator looks at them now and then.
  const sources: readonly Watch[] = settings.requireAccount ? [] : [sourcesOf(ConfigMap), sourcesOf(Secret)];
  return controller({
    name: 'operand',
    for: Operand,
    predicates: [notStatusAlone],
    owns: [ClusterActiveOperand],
    watches: sources,
    sources: [watch, obstacles],
    concurrency: 4,
    finalize: {
      finalizer: names.operandFinalizer,
      run: (context, operand) => finalizeOperand(context, operand, obstacles, settings),
    },
    async reconcile(context, key) {
      const seen = await context.cache.get(Operand, key);
      if (!seen) {
        changes.forget(key);
        obstacles.forget(key);
        return undefined;
      }
      const memory = { memo, members: changes.of(key, seen.metadata.uid), watch, obstacles };
      return await reconcileOperand(context, key, memory, settings);
    },
  });
}

/** Labelled objects of a kind, as sources of Operands. */
function sourcesOf(kind: Kind): Watch {
  return {
    kind,
    scope: { view: 'sources', metadataOnly: true, labelSelector: names.sourceLabel },
    async map({ key }, { cache }) {
      const operands = await cache.list(Operand);
      const uses = (operand: DeepReadonly<Operand>) =>
        operand.spec.steadyStateFrom?.some(
          (source) => source.kind === kind.kind && source.name === key.name && source.namespace === key.namespace,
        );
      return operands.filter(uses).map((operand) => ({ name: operand.metadata.name! }));
    },
  };
}
