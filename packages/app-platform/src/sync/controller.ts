import { join } from 'node:path';
import {
  CustomResourceDefinition,
  Deployment,
  isConditionTrue,
  StatefulSet,
  type CacheEvent,
  type Kind,
  type ObjectKey,
} from '@slipway/kube';
import { AppliedMemo, isSetLabel, MemberWatch } from '@slipway/manifests';
import { controller, type Controller, type ReconcileContext, type Watch } from '@slipway/runtime';

import { definitionName } from '../argo/application-definition.ts';
import { names } from '../names.ts';
import type { PlatformSettings } from '../settings.ts';
import { ApplicationWatch } from './application-watch.ts';
import { argoControllers, ArgoPresence } from './argo-presence.ts';
import { reconcileApplication } from './reconcile.ts';
import { applicationMembership } from './run.ts';
import { GitSources, type SourceStore } from './source/git-sources.ts';
import { RenderedSources } from './source/rendered-sources.ts';

export interface NativeSyncOptions {
  readonly settings: Pick<PlatformSettings, 'envDir' | 'repoUrl' | 'syncIntervalMs' | 'gitTimeoutMs'>;
  /** Default: checkouts beside the values repository. */
  readonly sources?: SourceStore;
  /** Default: its own. */
  readonly rendered?: RenderedSources;
}

export interface NativeSyncController extends Controller {
  /** Looks at Git now: somebody says that something was pushed. */
  refresh(): void;
}

/**
 * Synchronizes Applications where Argo CD does not. It is a controller for the definition of the kind, which need not be there: once it is, the
 * Applications are watched.
 */
export function nativeSyncController({
  settings,
  sources: store,
  rendered = new RenderedSources(),
}: NativeSyncOptions): NativeSyncController {
  const applications = new ApplicationWatch();
  const presence = new ArgoPresence();
  const owners = new Map<string, ObjectKey>();
  const watch = new MemberWatch((event) => ownersOf(event, owners));
  const memo = new AppliedMemo();
  let sources = store;
  let isAside = false;

  const mayAct = async ({ client, signal, log }: ReconcileContext): Promise<boolean> => {
    const wasAside = isAside;
    isAside = await presence.isPresent(client, signal);
    if (isAside !== wasAside)
      log.info(
        isAside
          ? 'Argo CD is installed: Applications are left to it'
          : 'Argo CD is gone: Applications are synchronized here',
      );
    return !isAside;
  };
  const declared = controller({
    name: 'native-sync',
    for: CustomResourceDefinition,
    scope: { view: 'native-sync', fieldSelector: `metadata.name=${definitionName}`, metadataOnly: true },
    watches: [watchOf(StatefulSet), watchOf(Deployment)],
    sources: [applications, watch],
    resyncMs: 0,
    concurrency: 4,
    async reconcile(context, key) {
      if (key.namespace === undefined) {
        const definition = await context.client.get(CustomResourceDefinition, key, { signal: context.signal });
        if (definition && isConditionTrue(definition, 'Established')) applications.follow();
        return undefined;
      }
      if (!(await mayAct(context))) return undefined;
      sources ??= new GitSources({
        directory: join(settings.envDir, '..', `${names.fieldManager}-sources`),
        clock: context.clock,
        refreshMs: settings.syncIntervalMs,
        timeoutMs: settings.gitTimeoutMs,
      });
      const { label } = applicationMembership({ metadata: key } as never);
      owners.set(label, key);
      const memory = { sources, rendered, memo, watch };
      return await reconcileApplication(context, key, memory, {
        refreshMs: settings.syncIntervalMs,
        repoUrl: settings.repoUrl,
      });
    },
  });

  /** Argo CD's own controller comes or goes: all Applications are looked at, by whoever is in charge now. */
  function watchOf(kind: Kind): Watch {
    return {
      kind,
      scope: {
        view: 'argocd',
        namespaces: [argoControllers.namespace],
        labelSelector: argoControllers.labelSelector,
      },
      map: () => {
        presence.forget();
        applications.wakeAll();
        return [];
      },
    };
  }

  return {
    ...declared,
    refresh() {
      sources?.forget();
      applications.wakeAll();
    },
  };
}

function ownersOf({ meta }: CacheEvent, owners: ReadonlyMap<string, ObjectKey>): ObjectKey[] {
  return Object.keys(meta.labels ?? {}).flatMap((label) => (isSetLabel(label) ? (owners.get(label) ?? []) : []));
}
