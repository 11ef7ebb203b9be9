import { ConfigMap, Secret, type CacheEvent, type ObjectKey } from '@slipway/kube';
import { AppliedMemo, MemberWatch, membershipOf } from '@slipway/manifests';
import {
  annotationsChanged,
  controller,
  finalizersChanged,
  generationChanged,
  labelsChanged,
  or,
  type Controller,
  type WatchContext,
} from '@slipway/runtime';

import { BtpOperator } from '../api.ts';
import { names, visibleSelector } from '../names.ts';
import { ModuleLoader } from '../resources/load.ts';
import type { Images } from '../resources/prepare.ts';
import { settingsFromFlags, type Settings } from '../settings/settings.ts';
import { reconcileBtpOperator } from './reconcile.ts';
import type { Workshop } from './run.ts';
import { ServiceResourceWatch } from './service-resource-watch.ts';

export interface BtpManagerOptions {
  readonly images: Images;
  /** Default: the defaults. */
  readonly settings?: Settings;
  /** Which BtpOperator represents the module. Default `fixed`: `kyma-system/btpoperator`. */
  readonly singleton?: 'fixed' | 'oldest';
  /** Reads the files of the module. Default: one of its own. */
  readonly loader?: ModuleLoader;
}

/** The controller of BtpOperators: woken by them, the required Secret, the settings, every module resource, and service resources that go. */
export function btpOperatorController(options: BtpManagerOptions): Controller {
  const { images, settings = settingsFromFlags(), singleton = 'fixed' } = options;
  const membership = membershipOf('BtpOperator.operator.kyma-project.io');
  // Which objects represent, or may represent, the module; those of the oldest-wins model are learnt as they are reconciled.
  const candidates = new Map<string, ObjectKey>([['', names.primary]]);
  const workshop: Workshop = {
    baseSettings: settings,
    lastSettings: settings,
    images,
    singleton,
    loader: options.loader ?? new ModuleLoader(),
    memo: new AppliedMemo(),
    membership,
    members: new MemberWatch((event) =>
      [event.meta, event.oldMeta].some((meta) => meta?.labels?.[membership.label] !== undefined)
        ? [...candidates.values()]
        : [],
    ),
  };
  const representatives = async (_event: CacheEvent, { cache }: WatchContext): Promise<readonly ObjectKey[]> => {
    if (singleton === 'fixed') return [names.primary];
    const all = await cache.list(BtpOperator);
    return all.map(({ metadata }) => ({ namespace: metadata.namespace!, name: metadata.name! }));
  };
  const visible = { labelSelector: visibleSelector, metadataOnly: true, view: 'btp-manager' };
  return controller({
    name: 'btp-manager',
    for: BtpOperator,
    lease: names.lease,
    // Our own status writes are no news.
    predicates: [or(generationChanged, labelsChanged, annotationsChanged, finalizersChanged)],
    watches: [
      {
        kind: Secret,
        scope: visible,
        predicates: [(event: CacheEvent) => event.key.name === workshop.lastSettings.secretName],
        map: representatives,
      },
      {
        kind: ConfigMap,
        scope: visible,
        predicates: [(event: CacheEvent) => event.key.name === settings.configName],
        map: representatives,
      },
      // When the oldest goes, the next one takes over.
      {
        kind: BtpOperator,
        predicates: [(event: CacheEvent) => singleton === 'oldest' && event.type === 'deleted'],
        map: representatives,
      },
    ],
    sources: [workshop.members, new ServiceResourceWatch()],
    async reconcile(context, key) {
      if (singleton === 'oldest') candidates.set(`${key.namespace}/${key.name}`, key);
      return await reconcileBtpOperator(context, key, workshop);
    },
  });
}
