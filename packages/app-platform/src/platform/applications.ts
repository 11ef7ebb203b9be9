import { sleep } from '@slipway/kube';
import { inParallel } from '@slipway/manifests';
import { parse } from 'yaml';

import { Application } from '../argo/application.ts';
import { ensureApplicationKind } from '../argo/application-definition.ts';
import { argo } from '../argo/words.ts';
import { OperatorError } from '../operator-error.ts';
import { names } from '../names.ts';
import { valueAt } from '../values/tree.ts';
import { applyChanged } from './apply-changed.ts';
import type { PlatformRelease } from './helmfile.ts';
import type { Platform } from './platform.ts';

const managed = { 'otomi.io/app': 'managed' };
const atATime = 8;

export { Application };

/** Releases a team's apply deals with. */
export const teamSelector = 'pipeline=otomi-task-teams';

/** Names of the Applications we manage. */
export async function argoApplications({ client, signal }: Platform): Promise<string[]> {
  const found: string[] = [];
  const among = { namespace: names.argoNamespace, labelSelector: managed, signal };
  for await (const { metadata } of client.list(Application, among)) found.push(metadata.name!);
  return found;
}

/**
 * Hands every release to Argo CD: one Application each, with the values inline. A release that is not to be installed any more loses
 * its Application. One that fails is logged and keeps nobody else.
 */
export async function applyAsApps(platform: Platform, selectors?: readonly string[]): Promise<void> {
  const { helmfile, log, signal } = platform;
  const selection = { signal, ...(selectors ? { selectors } : {}) };
  const releases = await helmfile.list(selection);
  const values = await helmfile.writeValues(selection);
  const revision = await targetRevision(platform);
  await ensureApplicationKind(platform);
  const failed: string[] = [];
  const refused = (name: string, error: unknown): void => {
    failed.push(name);
    log.error('an application was not applied', { application: name, error });
  };
  const wanted = releases
    .filter(({ installed }) => installed)
    .map((release) =>
      applicationOf(release, values.get(applicationName(release)) ?? '', platform.settings.appsRepoUrl, revision),
    );
  await applyChanged(platform, wanted, {
    force: true,
    onRefused: ({ metadata }, error) => refused(metadata.name!, error),
  });
  const unwanted = releases.filter(({ installed }) => !installed);
  await inParallel(unwanted, atATime, async (release) => {
    const name = applicationName(release);
    await removeApplication(platform, name).catch((error: unknown) => {
      signal.throwIfAborted();
      refused(name, error);
    });
  });
  if (failed.length > 0) log.error('Not all applications have been deployed successfully', { failed });
}

async function targetRevision({ settings, layers, root }: Platform): Promise<string> {
  if (settings.appsRevision !== undefined) return settings.appsRevision;
  const version = valueAt(await layers.values('all'), ['otomi', 'version']);
  return typeof version === 'string' ? version : `v${await root.version()}`;
}

export function applicationName({ namespace, name }: PlatformRelease): string {
  return `${namespace}-${name}`;
}

export function applicationOf(
  release: PlatformRelease,
  values: string,
  repoURL: string,
  targetRevision: string,
): Application {
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: {
      name: applicationName(release),
      namespace: names.argoNamespace,
      labels: managed,
      annotations: {
        'argocd.argoproj.io/compare-options': 'ServerSideDiff=true,IncludeMutationWebhook=true',
      },
    },
    spec: {
      project: 'default',
      syncPolicy: {
        automated: { prune: true, allowEmpty: false, selfHeal: true },
        syncOptions: ['ServerSideApply=true'],
      },
      source: {
        repoURL,
        path: release.chart.replace(/^(\.\.?\/)+/, ''),
        targetRevision,
        helm: { releaseName: release.name, values: isBlank(values) ? '' : values },
      },
      destination: { server: 'https://kubernetes.default.svc', namespace: release.namespace },
      ignoreDifferences: ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map((kind) => ({
        group: 'admissionregistration.k8s.io',
        kind,
        jqPathExpressions: ['.webhooks[]?.clientConfig.caBundle'],
      })),
    },
  };
}

function isBlank(values: string): boolean {
  // Whoever has a key is not blank; that is nearly everybody, and quickly seen.
  if (/^[\w"'-]+:/m.test(values)) return false;
  const content: unknown = parse(values);
  return content === null || content === undefined;
}

/** With the finalizer Argo CD removes what the Application brought; without, all of it would stay. */
async function removeApplication({ client, signal }: Platform, name: string): Promise<void> {
  const key = { namespace: names.argoNamespace, name };
  const present = await client.get(Application, key, { signal });
  if (!present) return;
  await client.addFinalizer(present, argo.cascade, { signal });
  await client.delete(Application, key, { signal });
}

/** Waits until an Application is in sync and healthy. */
export async function waitUntilHealthy(platform: Platform, name: string): Promise<void> {
  const { client, clock, settings, signal } = platform;
  for (let attempt = 0; attempt <= settings.retries; attempt += 1) {
    const application = await client.get(Application, { namespace: names.argoNamespace, name }, { signal });
    const synced = valueAt(application?.status, ['sync', 'status']) === 'Synced';
    if (synced && valueAt(application?.status, ['health', 'status']) === 'Healthy') return;
    await sleep(clock, settings.minTimeoutMs, signal);
  }
  throw new OperatorError('NotHealthy', `application ${name} did not become healthy; its status says why`);
}
