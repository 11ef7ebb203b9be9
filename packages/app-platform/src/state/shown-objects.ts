import { ConfigMap, type DeepReadonly, type KubeObject } from '@slipway/kube';
import type { ShownObjects, ShownState } from '@slipway/runtime';

import { Application } from '../argo/application.ts';
import { names } from '../names.ts';
import { recordPlaces } from './records.ts';

/** What tells people how the platform does: the operator's records, then every release. */
export const shownObjects: readonly ShownObjects[] = [
  record(recordPlaces.installation, {
    ends: 'completed',
    message: ({ attempt, error }) => error ?? `attempt ${attempt}`,
  }),
  record(recordPlaces.deployment, {
    ends: 'deployed',
    message: ({ deployingVersion = '' }) => `version ${deployingVersion}`,
  }),
  record(recordPlaces.apply, {
    ends: 'succeeded',
    message: ({ errorMessage, trigger, commitHash = '' }) => errorMessage ?? `${trigger} of ${commitHash.slice(0, 7)}`,
  }),
  { kind: Application, namespace: names.argoNamespace, stateOf: stateOfApplication },
];

type Fields = Readonly<Record<string, string>>;

interface RecordReading {
  /** The status it has when all is well. */
  readonly ends: string;
  /** What is to be said until then. */
  readonly message: (data: Fields) => string;
}

function record(place: Pick<ShownObjects, 'namespace' | 'name'>, { ends, message }: RecordReading): ShownObjects {
  return {
    kind: ConfigMap,
    ...place,
    stateOf(object) {
      const { status, timestamp, ...data } = ((object as DeepReadonly<ConfigMap>).data ?? {}) as Fields;
      if (status === undefined) return undefined;
      const since = timestamp === undefined ? {} : { since: timestamp };
      if (status === ends) return { state: status, good: true, ...since };
      return { state: status, ...(status === 'failed' ? { good: false } : {}), message: message(data), ...since };
    },
  };
}

function stateOfApplication(object: DeepReadonly<KubeObject>): ShownState {
  const { sync, health, conditions = [], operationState } = (object as DeepReadonly<Application>).status ?? {};
  const state = `${sync?.status ?? 'Unknown'}, ${health?.status ?? 'Unknown'}`;
  const good = sync?.status === 'Synced' && health?.status === 'Healthy';
  const message = conditions[0]?.message ?? health?.message ?? operationState?.message ?? '';
  const since = health?.lastTransitionTime;
  return { state, ...(good ? { good } : { message }), ...(since === undefined ? {} : { since }) };
}
